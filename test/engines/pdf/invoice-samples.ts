const guidelines: Record<string, string> = {
  MINIMUM: 'urn:factur-x.eu:1p0:minimum',
  'BASIC WL': 'urn:factur-x.eu:1p0:basicwl',
  BASIC: 'urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic',
  'EN 16931': 'urn:cen.eu:en16931:2017',
  EXTENDED: 'urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended',
  XRECHNUNG: 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
};
export const invoiceProfiles = Object.keys(guidelines);

/** Returns an invoice of a profile, with what the rules of the profile require. */
export function invoiceXml(profile: string): string {
  const isMinimum = profile === 'MINIMUM';
  const hasLines = !isMinimum && profile !== 'BASIC WL';
  const isGerman = profile === 'XRECHNUNG';
  const amount = (name: string, value: string, currency = '') =>
    `<ram:${name}${currency ? ` currencyID="${currency}"` : ''}>${value}</ram:${name}>`;
  const address = (extra: string) =>
    `<ram:PostalTradeAddress>${extra}<ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress>`;
  const town =
    '<ram:PostcodeCode>10115</ram:PostcodeCode><ram:LineOne>Street 1</ram:LineOne><ram:CityName>Berlin</ram:CityName>';
  const mail = (name: string) =>
    isGerman
      ? `<ram:URIUniversalCommunication><ram:URIID schemeID="EM">${name}@example.com</ram:URIID></ram:URIUniversalCommunication>`
      : '';
  const contact = isGerman
    ? '<ram:DefinedTradeContact><ram:PersonName>Ann</ram:PersonName><ram:TelephoneUniversalCommunication><ram:CompleteNumber>+49 30 1234567</ram:CompleteNumber></ram:TelephoneUniversalCommunication><ram:EmailURIUniversalCommunication><ram:URIID>ann@example.com</ram:URIID></ram:EmailURIUniversalCommunication></ram:DefinedTradeContact>'
    : '';
  const line = `<ram:IncludedSupplyChainTradeLineItem><ram:AssociatedDocumentLineDocument><ram:LineID>1</ram:LineID></ram:AssociatedDocumentLineDocument><ram:SpecifiedTradeProduct><ram:Name>Größe &amp; more</ram:Name></ram:SpecifiedTradeProduct><ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>100.00</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement><ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">1</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery><ram:SpecifiedLineTradeSettlement><ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax><ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>100.00</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation></ram:SpecifiedLineTradeSettlement></ram:IncludedSupplyChainTradeLineItem>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100" xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
<rsm:ExchangedDocumentContext>${isGerman ? '<ram:BusinessProcessSpecifiedDocumentContextParameter><ram:ID>urn:fdc:peppol.eu:2017:poacc:billing:01:1.0</ram:ID></ram:BusinessProcessSpecifiedDocumentContextParameter>' : ''}<ram:GuidelineSpecifiedDocumentContextParameter><ram:ID>${guidelines[profile]}</ram:ID></ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>
<rsm:ExchangedDocument><ram:ID>R-1</ram:ID><ram:TypeCode>380</ram:TypeCode><ram:IssueDateTime><udt:DateTimeString format="102">20260105</udt:DateTimeString></ram:IssueDateTime></rsm:ExchangedDocument>
<rsm:SupplyChainTradeTransaction>${hasLines ? line : ''}
<ram:ApplicableHeaderTradeAgreement>${isGerman ? '<ram:BuyerReference>04011000-12345-03</ram:BuyerReference>' : ''}<ram:SellerTradeParty><ram:Name>Seller</ram:Name>${contact}${address(isMinimum ? '' : town)}${mail('seller')}<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE123456789</ram:ID></ram:SpecifiedTaxRegistration></ram:SellerTradeParty><ram:BuyerTradeParty><ram:Name>Buyer</ram:Name>${isMinimum ? '' : address(town)}${mail('buyer')}</ram:BuyerTradeParty></ram:ApplicableHeaderTradeAgreement>
<ram:ApplicableHeaderTradeDelivery>${isMinimum ? '' : '<ram:ActualDeliverySupplyChainEvent><ram:OccurrenceDateTime><udt:DateTimeString format="102">20260104</udt:DateTimeString></ram:OccurrenceDateTime></ram:ActualDeliverySupplyChainEvent>'}</ram:ApplicableHeaderTradeDelivery>
<ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>${isMinimum ? '' : `<ram:SpecifiedTradeSettlementPaymentMeans><ram:TypeCode>58</ram:TypeCode><ram:PayeePartyCreditorFinancialAccount><ram:IBANID>DE02120300000000202051</ram:IBANID></ram:PayeePartyCreditorFinancialAccount></ram:SpecifiedTradeSettlementPaymentMeans><ram:ApplicableTradeTax><ram:CalculatedAmount>19.00</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode><ram:BasisAmount>100.00</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax><ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime><udt:DateTimeString format="102">20260205</udt:DateTimeString></ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms>`}<ram:SpecifiedTradeSettlementHeaderMonetarySummation>${isMinimum ? '' : amount('LineTotalAmount', '100.00')}${amount('TaxBasisTotalAmount', '100.00')}${amount('TaxTotalAmount', '19.00', 'EUR')}${amount('GrandTotalAmount', '119.00')}${amount('DuePayableAmount', '119.00')}</ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement>
</rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>
`;
}
