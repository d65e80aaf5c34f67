import type { Level } from './problems.ts';

/** The entries of the document information dictionary that have a counterpart in XMP. Dates are in ISO 8601. */
export interface Information {
  Title?: string;
  Author?: string;
  Subject?: string;
  Keywords?: string;
  Creator?: string;
  Producer?: string;
  CreationDate?: string;
  ModDate?: string;
}

/** The properties of an invoice by the extension schema of Factur-X or Order-X. */
export interface InvoiceProperties {
  namespace: string;
  documentType: string;
  fileName: string;
  version: string;
  profile: string;
}

export interface Description {
  level?: Level | undefined;
  isUniversal?: boolean | undefined;
  invoice?: InvoiceProperties | undefined;
  information: Information;
}

export const facturX = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';
export const orderX = 'urn:factur-x:pdfa:CrossIndustryDocument:1p0#';
const invoiceNamespaces = [facturX, orderX];

/** Returns the metadata of a document. An approved file has them in this form to the byte. */
export function xmpOf({ level, isUniversal, invoice, information }: Description): string {
  const property = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`<${name}>${encode(value)}</${name}>`];
  const list = (name: string, kind: 'Alt' | 'Seq', value: string | undefined) => {
    const attribute = kind === 'Alt' ? ' xml:lang="x-default"' : '';
    const item = `<rdf:li${attribute}>${encode(value ?? '')}</rdf:li>`;
    return value === undefined ? [] : [`<${name}><rdf:${kind}>${item}</rdf:${kind}></${name}>`];
  };
  const { Title, Author, Subject, Keywords, Creator, Producer, CreationDate, ModDate } = information;
  const parts = [
    ...property('pdfaid:part', level?.[0]),
    ...property('pdfaid:conformance', level?.[1]?.toUpperCase()),
    ...property('pdfuaid:part', isUniversal ? '1' : undefined),
    ...list('dc:title', 'Alt', Title),
    ...list('dc:creator', 'Seq', Author),
    ...list('dc:description', 'Alt', Subject),
    ...property('pdf:Keywords', Keywords),
    ...property('pdf:Producer', Producer),
    ...property('xmp:CreatorTool', Creator),
    ...property('xmp:CreateDate', CreationDate),
    ...property('xmp:ModifyDate', ModDate),
  ];
  const extensions = [
    ...(level && isUniversal ? [universalSchema] : []),
    ...(level && invoice ? [invoiceSchema(invoice.namespace)] : []),
  ];
  const lines = [
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">',
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" xmlns:xmp="http://ns.adobe.com/xap/1.0/">',
    ...parts,
    '</rdf:Description>',
    ...(invoice
      ? [
          `<rdf:Description rdf:about="" xmlns:fx="${invoice.namespace}">`,
          ...property('fx:DocumentType', invoice.documentType),
          ...property('fx:DocumentFileName', invoice.fileName),
          ...property('fx:Version', invoice.version),
          ...property('fx:ConformanceLevel', invoice.profile),
          '</rdf:Description>',
        ]
      : []),
    ...(extensions.length > 0
      ? [
          '<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">',
          '<pdfaExtension:schemas><rdf:Bag>',
          ...extensions,
          '</rdf:Bag></pdfaExtension:schemas>',
          '</rdf:Description>',
        ]
      : []),
    '</rdf:RDF>',
    '</x:xmpmeta>',
    // Room to edit the metadata in place.
    `${' '.repeat(99)}\n`.repeat(10).trimEnd(),
    '<?xpacket end="w"?>',
  ];
  return lines.join('\n');
}

function schema(name: string, namespace: string, prefix: string, properties: [string, string, string, string][]) {
  const described = properties.map(
    ([property, type, category, description]) =>
      `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${property}</pdfaProperty:name><pdfaProperty:valueType>${type}</pdfaProperty:valueType><pdfaProperty:category>${category}</pdfaProperty:category><pdfaProperty:description>${description}</pdfaProperty:description></rdf:li>`,
  );
  return `<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>${name}</pdfaSchema:schema><pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI><pdfaSchema:prefix>${prefix}</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>${described.join('')}</rdf:Seq></pdfaSchema:property></rdf:li>`;
}

const universalSchema = schema('PDF/UA Universal Accessibility Schema', 'http://www.aiim.org/pdfua/ns/id/', 'pdfuaid', [
  ['part', 'Integer', 'internal', 'Indicates, which part of ISO 14289 standard is followed'],
]);

function invoiceSchema(namespace: string): string {
  const name = namespace === orderX ? 'Order-X' : 'Factur-X';
  return schema(`${name} PDFA Extension Schema`, namespace, 'fx', [
    ['DocumentFileName', 'Text', 'external', 'The name of the embedded XML document'],
    ['DocumentType', 'Text', 'external', 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER'],
    ['Version', 'Text', 'external', 'The actual version of the standard applying to the embedded XML document'],
    ['ConformanceLevel', 'Text', 'external', 'The conformance level of the embedded XML document'],
  ]);
}

/** Returns what metadata say in addition to the information dictionary. */
export function readXmp(text: string): Pick<Description, 'isUniversal' | 'invoice'> {
  const namespace = invoiceNamespaces.find((each) => text.includes(`="${each}"`) || text.includes(`='${each}'`));
  const read = (name: string) =>
    new RegExp(`<fx:${name}>\\s*([\\w .-]{1,100}?)\\s*</fx:${name}>|\\bfx:${name}=["']([\\w .-]{1,100})["']`)
      .exec(text)
      ?.slice(1)
      .find((each) => each !== undefined);
  const [documentType, fileName] = [read('DocumentType'), read('DocumentFileName')];
  const [version, profile] = [read('Version'), read('ConformanceLevel')];
  const invoice =
    namespace && documentType && fileName && version && profile
      ? { namespace, documentType, fileName, version, profile }
      : undefined;
  return { isUniversal: /pdfuaid:part(?:>|=["'])\s*1/.test(text), invoice };
}

function encode(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

const dateForm = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?'?|Z.*)?$/;

/** Returns a date of the information dictionary in ISO 8601, or undefined if it is none. */
export function isoDate(date: string): string | undefined {
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', sign, hours, minutes = '00'] =
    dateForm.exec(date) ?? [];
  if (year === undefined) return undefined;
  const zone = sign === undefined || `${hours}${minutes}` === '0000' ? 'Z' : `${sign}${hours}:${minutes}`;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
  return Number.isNaN(Date.parse(iso)) ? undefined : iso;
}

/** Returns a date of ISO 8601 as the information dictionary has it. */
export function pdfDate(iso: string): string {
  const [, date = '', zone = ''] = /^(.{19})(.*)$/.exec(iso) ?? [];
  return `D:${date.replace(/[-T:]/g, '')}${zone === 'Z' ? 'Z' : `${zone.replace(':', "'")}'`}`;
}

const accents = '˘ˇˆ˙˝˛˚˜';
const signs = '•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž';

/** Returns the text of a string in UTF-16 or PDFDocEncoding. */
export function decodeText(bytes: string): string {
  if (bytes.startsWith('\xfe\xff')) {
    const units = Buffer.from(bytes.slice(2), 'latin1');
    return units
      .subarray(0, units.length & ~1)
      .swap16()
      .toString('utf16le');
  }
  return Array.from(bytes, (byte) => {
    const code = byte.charCodeAt(0);
    if (code === 0xa0) return '€';
    return (code < 0x20 ? accents[code - 0x18] : code >= 0x80 ? signs[code - 0x80] : undefined) ?? byte;
  }).join('');
}
