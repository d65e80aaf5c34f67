import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import yazl from 'yazl';
import { catalogue } from '../../../functions/engines/markdown/catalogue.ts';
import { engine } from '../../../functions/engines/markdown/run.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import { quietContext } from '../../support/sandboxed.ts';

const run = promisify(execFile);
const known = new Catalogue([catalogue]);
const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'markdown-'));
  folders.push(folder);
  return folder;
}

export interface Converted {
  text: string;
  /** The other outputs by name. */
  files: Record<string, Buffer>;
  warnings: string[];
}

/** Converts bytes as the worker would: options checked, under a name that is not the user's. */
export async function convert(
  name: string,
  bytes: string | Buffer,
  options: Record<string, unknown> = {},
  outputFormat = 'md',
): Promise<Converted> {
  const folder = await newFolder();
  await mkdir(join(folder, 'in'));
  const path = join(folder, 'in', '0');
  await writeFile(path, bytes);
  const format = name.split('.').at(-1) ?? '';
  const match = known.find('convert', format, outputFormat);
  if (!match) throw new Error(`convert ${format} to ${outputFormat} is not advertised.`);
  const checked = checkOptions(match.capability.options, options);
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  const inputs = [{ path, name, format: known.canonical(format), size: (await stat(path)).size }];
  const work = { operation: 'convert' as const, inputs, outputFormat, options: checked.values, folder };
  const { outputs, warnings = [] } = await engine.run(work, quietContext());
  const [first, ...others] = outputs;
  const files = await Promise.all(others.map(async (file) => [file.name, await readFile(file.path)]));
  return { text: await readFile(first?.path ?? '', 'utf8'), files: Object.fromEntries(files), warnings };
}

/** Returns the Markdown of a file. */
export async function markdown(
  name: string,
  bytes: string | Buffer,
  options?: Record<string, unknown>,
): Promise<string> {
  return (await convert(name, bytes, options)).text;
}

/** Makes a document by pandoc of its Markdown. */
export async function byPandoc(source: string, format: string, files: Record<string, Buffer> = {}): Promise<Buffer> {
  const folder = await newFolder();
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  await writeFile(join(folder, 'source.md'), source);
  const args = ['--standalone', '--mathml', '--from=markdown', '-o', `made.${format}`, 'source.md'];
  await run('pandoc', args, { cwd: folder });
  return readFile(join(folder, `made.${format}`));
}

/** Makes a package of its parts. */
export async function zip(parts: Record<string, string | Buffer>): Promise<Buffer> {
  const file = new yazl.ZipFile();
  for (const [name, content] of Object.entries(parts)) file.addBuffer(Buffer.from(content), name);
  file.end();
  const chunks: Buffer[] = [];
  for await (const chunk of file.outputStream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Makes a package of Office with one main part. */
export function ooxml(main: string, content: string, parts: Record<string, string | Buffer> = {}): Promise<Buffer> {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return zip({
    '_rels/.rels': relations(`<Relationship Id="m" Type="${office}/officeDocument" Target="${main}"/>`),
    [main]: content,
    ...parts,
  });
}

export function relations(list: string): string {
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list}</Relationships>`;
}

/** Makes a document of Word of the paragraphs in its body. */
export function docx(body: string, parts: Record<string, string | Buffer> = {}): Promise<Buffer> {
  return ooxml('word/document.xml', `<w:document><w:body>${body}</w:body></w:document>`, parts);
}
