import { readdirSync, readFileSync } from 'node:fs';
import { mkdtempDisposable, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { pandoc } from '../engines/document/samples.ts';
import { runSandboxed } from '../support/sandboxed.ts';
import { median } from './table.ts';

export interface TypicalJob {
  name: string;
  /** Processor time of the engine's processes for one file, warm. */
  cpuSeconds: number;
}

const rounds = 3;
/** Linux counts the processor time of processes in hundredths of a second. */
const ticksPerSecond = 100;

/**
 * Measures the processor time of engines for the files of the cost model; their video is estimated by the engine
 * itself.
 */
export async function benchTypicalJobs(): Promise<TypicalJob[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bench-typical-'));
  const folder = temporary.path;
  return [
    { name: 'photo', cpuSeconds: await cpuOf('image', await photo(folder), 'png', 'webp') },
    { name: 'document', cpuSeconds: await cpuOf('document', await document(folder), 'docx', 'pdf') },
    { name: 'webpage', cpuSeconds: await cpuOf('webpage', await page(folder), 'html', 'pdf') },
  ];
}

async function cpuOf(engine: string, path: string, from: string, to: string): Promise<number> {
  const module = new URL(`../../functions/engines/${engine}/run.ts`, import.meta.url);
  const sandbox = new Sandbox({ module, memoryBytes: 4 * 1024 ** 3, network: engine === 'webpage' });
  const input = { path, name: `file.${from}`, format: from, size: (await stat(path)).size };
  const convert = () => runSandboxed(sandbox, { operation: 'convert', inputs: [input], outputFormat: to, options: {} });
  try {
    // The first conversion starts the processes that the others use.
    await convert();
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = cpuOfDescendants();
      await convert();
      times.push(cpuOfDescendants() - before);
    }
    return median(times);
  } finally {
    sandbox.stop();
  }
}

/** A photo of about 1 MB as PNG. */
async function photo(folder: string): Promise<string> {
  const path = join(folder, 'photo.png');
  const size = { width: 860, height: 645 };
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 12 };
  await sharp({ create: { ...size, channels: 3, background: '#808080', noise } })
    .png()
    .toFile(path);
  return path;
}

/** Ten pages with text, headings and a table each. */
async function document(folder: string): Promise<string> {
  const paragraph = 'The quick brown fox jumps over the lazy dog while it rains. '.repeat(10);
  const table = '| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |';
  const pages = Array.from(
    { length: 10 },
    (_, index) => `# Chapter ${index + 1}\n\n${`${paragraph}\n\n`.repeat(4)}${table}\n`,
  );
  const source = join(folder, 'source.md');
  await writeFile(source, pages.join('\n'));
  return await pandoc(source, 'markdown', 'docx', join(folder, 'source.docx'));
}

async function page(folder: string): Promise<string> {
  const path = join(folder, 'page.html');
  const card = '<section><h2>Heading</h2><p>Some text of a usual page, with <a href="#">links</a>.</p></section>';
  const style = 'section{float:left;width:30%;margin:1%;padding:1em;box-shadow:0 0 9px #999}';
  await writeFile(path, `<!doctype html><meta charset="utf-8"><style>${style}</style>${card.repeat(60)}`);
  return path;
}

/** Returns the processor time of all descendants of this process, in seconds. */
function cpuOfDescendants(): number {
  const processes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []));
  const family = new Set([process.pid]);
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  family.delete(process.pid);
  return processes.reduce((sum, { pid, ticks }) => sum + (family.has(pid) ? ticks : 0), 0) / ticksPerSecond;
}

function statOf(pid: string): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    // utime, stime, and those of ended children.
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return { pid: Number(pid), parent: Number(fields[1]), ticks };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
