import { readFile, stat } from 'node:fs/promises';
import { EngineError, type InputFile } from '../../runtime/engine.ts';

/** The value of a field; null leaves it as it is. */
export type Value = string | boolean | null | string[];
export type FormRecord = Map<string, Value>;

const maxBytes = 20_000_000;
const maxRecords = 5_000;
const maxEntries = 20_000;
const maxDepth = 20;

/** Reads records of a file of JSON or CSV. */
export async function readRecords({ path, format, name }: InputFile): Promise<FormRecord[]> {
  if ((await stat(path)).size > maxBytes)
    throw new EngineError(`The file data is larger than ${maxBytes / 1_000_000} MB. Split it.`);
  const text = decode(await readFile(path));
  const isJson = format === 'json' || /\.json$/i.test(name) || (format !== 'csv' && /^\s*[[{]/.test(text));
  return checked(isJson ? recordsOfJson(text, 'The file data') : recordsOfCsv(text));
}

/** Reads records of the option form_data. */
export function recordsOfOption(text: string): FormRecord[] {
  return checked(recordsOfJson(text, 'The option form_data'));
}

function checked(records: FormRecord[]): FormRecord[] {
  if (records.length === 0) throw new EngineError('The data has no records.');
  if (records.length > maxRecords)
    throw new EngineError(`The data has ${records.length} records; the maximum is ${maxRecords}. Split it.`);
  return records;
}

function decode(bytes: Buffer): string {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new EngineError('The file data is not UTF-8. Save it with that encoding.');
  }
}

function recordsOfJson(text: string, what: string): FormRecord[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser has a part of the text, which is secret.
    throw new EngineError(`${what} is not valid JSON.`);
  }
  const list = Array.isArray(value) ? value : [value];
  return list.map((each, index) => {
    if (!isObject(each))
      throw new EngineError(
        `${what}: expected an object of field names to values${list.length > 1 ? ` as record ${index + 1}` : ''}, or an array of them.`,
      );
    const record: FormRecord = new Map();
    flatten(each, '', record, 0);
    return record;
  });
}

/** Adds the values of an object. One in it has the fields below a name: `{"person": {"name": …}}` is `person.name`. */
function flatten(object: Record<string, unknown>, prefix: string, record: FormRecord, depth: number): void {
  if (depth > maxDepth) throw new EngineError('The data is nested too deeply.');
  for (const [key, value] of Object.entries(object)) {
    const name = `${prefix}${key}`;
    if (isObject(value)) flatten(value, `${name}.`, record, depth + 1);
    else record.set(name, readValue(value, name));
    if (record.size > maxEntries) throw new EngineError(`A record has more than ${maxEntries} values.`);
  }
}

function readValue(value: unknown, name: string): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return String(value);
  if (
    Array.isArray(value) &&
    value.length <= maxEntries &&
    value.every((each) => ['string', 'number'].includes(typeof each))
  )
    return value.map(String);
  throw new EngineError(
    `Expected a text, number, boolean, null or array of texts for the field ${JSON.stringify(name.slice(0, 100))}.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function recordsOfCsv(text: string): FormRecord[] {
  const [header, ...rows] = rowsOf(text);
  if (!header) throw new EngineError('The file data has no header row.');
  const names = header.map((name) => name.trim());
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) < index);
  if (twice !== undefined)
    throw new EngineError(`The header row of data has the column ${JSON.stringify(twice.slice(0, 100))} twice.`);
  return rows.map((row, index) => {
    if (row.length > names.length)
      throw new EngineError(
        `Row ${index + 2} of data has ${row.length} columns but the header row has ${names.length}. Quote values that contain the separator.`,
      );
    return new Map(names.flatMap((name, column) => (name === '' ? [] : [[name, row[column] ?? '']])));
  });
}

/** Parses CSV as in RFC 4180, with commas, semicolons or tabs. Leaves out empty lines. */
function rowsOf(text: string): string[][] {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  const token = new RegExp(`"([^"]*(?:""[^"]*)*)"[^"${separator}\\n\\r]*|((?!")[^${separator}\\n\\r]*)`, 'y');
  for (let at = 0; at < text.length || row.length > 0; ) {
    token.lastIndex = at;
    const found = token.exec(text);
    row.push(found?.[1]?.replaceAll('""', '"') ?? found?.[2] ?? '');
    at += found?.[0].length ?? 0;
    if (text[at] === separator) {
      at += 1;
      continue;
    }
    if (at < text.length && !/[\r\n]/.test(text[at] ?? ''))
      throw new EngineError(`Row ${rows.length + 1} of data has a quotation mark that is not closed or not doubled.`);
    if (row.some((value) => value !== '')) rows.push(row);
    if (rows.length > maxRecords + 1) return rows;
    row = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
  return rows;
}

function separatorOf(text: string): string {
  const [line = ''] = text.replace(/"[^"]*"/g, '').split(/[\r\n]/, 1);
  const count = (separator: string) => line.split(separator).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}
