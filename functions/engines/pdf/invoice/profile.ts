import { EngineError } from '../../runtime/engine.ts';
import { facturX, type InvoiceProperties, orderX } from '../archive/xmp.ts';
import { readXml } from './xml.ts';

/** Names of the XML in the formats of invoices and orders, the latest first. */
export const invoiceNames = ['factur-x.xml', 'xrechnung.xml', 'zugferd-invoice.xml', 'order-x.xml'];

export interface Invoice extends InvoiceProperties {
  /** How the XML relates to the pages. */
  relationship: 'Data' | 'Alternative';
}

const crossIndustry = 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100';
const crossIndustryOrder = 'urn:un:unece:uncefact:data:SCRDMCCBDACIOMessageStructure:100';
const orderTypes: Record<string, string> = { '220': 'ORDER', '230': 'ORDER_CHANGE', '231': 'ORDER_RESPONSE' };

/** Profiles by their guideline, as it ends. */
const profiles: [RegExp, string][] = [
  [/^urn:(?:factur-x\.eu:1p0|zugferd\.de:2p[0-9]):minimum$/, 'MINIMUM'],
  [/^urn:(?:factur-x\.eu:1p0|zugferd\.de:2p[0-9]):basicwl$/, 'BASIC WL'],
  [/^urn:cen\.eu:en16931:2017[#:]compliant[#:](?:urn:)?(?:factur-x\.eu:1p0|zugferd\.de:2p[0-9]):basic$/, 'BASIC'],
  [/^urn:cen\.eu:en16931:2017$/, 'EN 16931'],
  [
    /^urn:cen\.eu:en16931:2017[#:]conformant[#:](?:urn:)?(?:factur-x\.eu:1p0|zugferd\.de:2p[0-9]):extended$/,
    'EXTENDED',
  ],
  [
    /^urn:cen\.eu:en16931:2017#compliant#urn:(?:xoev-de|xeinkauf\.de):kosit:(?:standard:)?xrechnung_\d+\.\d+$/,
    'XRECHNUNG',
  ],
];
const orderProfiles = /^urn:order-x\.eu:1p0:(basic|comfort|extended)$/;

/** Reads which document an XML is, and its profile. Throws if it is none that a PDF can carry. */
export function readInvoice(data: Uint8Array): Invoice {
  const elements = readXml(data);
  const [root] = elements;
  const textAt = (...path: string[]) =>
    elements.find(({ name, path: above }) => [...above.slice(1), name].join('/') === path.join('/'))?.text.trim();
  const guideline = textAt('ExchangedDocumentContext', 'GuidelineSpecifiedDocumentContextParameter', 'ID') ?? '';
  const type = textAt('ExchangedDocument', 'TypeCode') ?? '';
  if (root?.name === 'CrossIndustryInvoice' && root.namespace === crossIndustry) {
    const profile = profiles.find(([form]) => form.test(guideline))?.[1];
    if (profile === undefined) throw unknownProfile(guideline);
    return {
      namespace: facturX,
      documentType: 'INVOICE',
      fileName: profile === 'XRECHNUNG' ? 'xrechnung.xml' : 'factur-x.xml',
      version: profile === 'XRECHNUNG' ? (/(\d+\.\d+)$/.exec(guideline)?.[1] ?? '1.0') : '1.0',
      profile,
      // Only the larger profiles say all that the pages do.
      relationship: profile === 'MINIMUM' || profile === 'BASIC WL' ? 'Data' : 'Alternative',
    };
  }
  if (root?.name === 'SCRDMCCBDACIOMessageStructure' && root.namespace === crossIndustryOrder) {
    const profile = orderProfiles.exec(guideline)?.[1];
    if (profile === undefined) throw unknownProfile(guideline);
    return {
      namespace: orderX,
      documentType: orderTypes[type] ?? 'ORDER',
      fileName: 'order-x.xml',
      version: '1.0',
      profile: profile.toUpperCase(),
      relationship: 'Alternative',
    };
  }
  throw new EngineError(
    `Expected the invoice as XML with the root CrossIndustryInvoice (UN/CEFACT CII D16B or later), but received ${root?.name.slice(0, 100)}. Invoices in UBL cannot be embedded.`,
  );
}

function unknownProfile(guideline: string): EngineError {
  return new EngineError(
    `Expected a profile of Factur-X, ZUGFeRD 2, XRechnung or Order-X in the ID of GuidelineSpecifiedDocumentContextParameter, but received ${JSON.stringify(guideline.slice(0, 200))}.`,
  );
}
