import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stopOffice } from '../../functions/engines/document/office/office.ts';
import { engine } from '../../functions/engines/document/run.ts';
import { makeSample } from '../engines/document/samples.ts';
import { quietContext } from '../support/sandboxed.ts';
import { median, type Row, timed } from './table.ts';

const run = promisify(execFile);
const rounds = 5;

/** Measures a warm docx to pdf against a newly started LibreOffice, in milliseconds, the median of some rounds each. */
export async function benchDocument(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const sample = await makeSample('docx', folder);
    await convert(sample, folder);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await timed(() => convert(sample, folder)));
      bare.push(await timed(() => fresh(sample, folder)));
    }
    return [{ name: 'docx to pdf, warm, against a fresh soffice', ours: median(ours), bare: median(bare) }];
  } finally {
    await stopOffice();
    await rm(folder, { recursive: true, force: true });
  }
}

async function convert(sample: string, parent: string): Promise<void> {
  const folder = await mkdtemp(join(parent, 'task-'));
  await mkdir(join(folder, 'in'));
  const path = join(folder, 'in', '0');
  await copyFile(sample, path);
  await engine.run(
    {
      operation: 'convert',
      inputs: [{ path, name: 'sample.docx', format: 'docx', size: (await stat(path)).size }],
      outputFormat: 'pdf',
      options: {},
      folder,
    },
    quietContext(),
  );
  await rm(folder, { recursive: true });
}

/** The profile is kept between rounds, as on a machine that converts by command. */
async function fresh(sample: string, folder: string): Promise<void> {
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  await run('soffice', [profile, '--headless', '--convert-to', 'pdf', '--outdir', folder, sample]);
}
