import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Programs, runTool } from '../../runtime/pdf-file.ts';
import { isReference, type PdfObjects, type PdfValue } from '../objects.ts';
import { operationsOf, UnreadableContent } from '../redact/tokens.ts';

const invisible = 3;
/** Operators that show text; two of them go to the next line first. */
const shows: Record<string, string> = { Tj: '', TJ: '', "'": 'T* ', '"': 'T* ' };
const maxForms = 1_000;
const streamsAtOnce = 200;

/** Removes the invisible text of pages. Pages whose content cannot be read stay as they are. */
export async function removeHiddenText(pages: string[], objects: PdfObjects, space: Programs): Promise<void> {
  const contents = pages.map((page) => contentsOf(page, objects));
  const forms = new Set(pages.flatMap((page) => formsOf(page, objects)));
  const streams = await readStreams([...contents.flat(), ...forms], objects.path, space);
  for (const [index, page] of pages.entries()) {
    const all = Buffer.concat(
      (contents[index] ?? []).flatMap((each) => [streams.get(each) ?? Buffer.of(), Buffer.of(10)]),
    );
    const stripped = withoutHiddenText(all);
    if (stripped) objects.update(page, { '/Contents': objects.addStream({}, stripped.toString('latin1')) });
  }
  for (const form of forms) {
    const stripped = withoutHiddenText(streams.get(form) ?? Buffer.of());
    if (stripped) objects.replaceData(form, stripped);
  }
}

function contentsOf(page: string, objects: PdfObjects): string[] {
  const contents = objects.dict(page)?.['/Contents'];
  const listed: PdfValue[] = Array.isArray(objects.lookup(contents)) ? objects.array(contents) : [contents ?? null];
  return listed.filter(isReference);
}

/** Returns the forms that a page draws, and those that they draw. */
function formsOf(page: string, objects: PdfObjects): string[] {
  const found = new Set<string>();
  const pending = [page];
  for (let next = pending.pop(); next !== undefined && found.size < maxForms; next = pending.pop()) {
    const resources = objects.dict(objects.dict(next)?.['/Resources']);
    for (const each of Object.values(objects.dict(resources?.['/XObject']) ?? {})) {
      if (!isReference(each) || found.has(each) || objects.dict(each)?.['/Subtype'] !== '/Form') continue;
      found.add(each);
      pending.push(each);
    }
  }
  return [...found];
}

/** Returns the decoded data of streams. */
async function readStreams(references: string[], path: string, space: Programs): Promise<Map<string, Buffer>> {
  const streams = new Map<string, Buffer>();
  for (let start = 0; start < references.length; start += streamsAtOnce) {
    const some = references.slice(start, start + streamsAtOnce);
    const file = join(space.folder, 'streams.json');
    const wanted = some.map((reference) => `--json-object=${reference.replace(/^(\d+) (\d+) R$/, '$1,$2')}`);
    const args = ['--json=2', '--json-key=qpdf', '--json-stream-data=inline', '--decode-level=generalized', ...wanted];
    await runTool('qpdf', [...args, '--warning-exit-0', path, file], space);
    const { qpdf }: { qpdf: [unknown, Record<string, { stream?: { data?: string; dict: object } }>] } = JSON.parse(
      await readFile(file, 'latin1'),
    );
    await rm(file);
    for (const reference of some) {
      const stream = qpdf[1][`obj:${reference}`]?.stream;
      if (stream?.data !== undefined && !('/Filter' in stream.dict))
        streams.set(reference, Buffer.from(stream.data, 'base64'));
    }
  }
  return streams;
}

/** Returns a content stream without its invisible text, or undefined if it has none. */
export function withoutHiddenText(content: Buffer): Buffer | undefined {
  const kept: Buffer[] = [];
  const saved: number[] = [];
  let [from, mode] = [0, 0];
  try {
    for (const { operator, operands, start, end } of operationsOf(content)) {
      const instead = shows[operator];
      if (operator === 'q') saved.push(mode);
      else if (operator === 'Q') mode = saved.pop() ?? mode;
      else if (operator === 'Tr') mode = Number(operands[0]);
      else if (instead !== undefined && mode === invisible) {
        kept.push(content.subarray(from, start), Buffer.from(instead));
        from = end;
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableContent)) throw error;
    return undefined;
  }
  return from === 0 ? undefined : Buffer.concat([...kept, content.subarray(from)]);
}
