import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { Sandbox } from '../../../functions/engines/runtime/sandbox/sandbox.ts';
import { findMissing } from '../../../infra/local/engine-checks.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import { type ProcessingOperation, processingOperations } from '../../../shared/operations/operations.ts';
import { Client } from '../../support/client.ts';
import { quietContext, runSandboxed } from '../../support/sandboxed.ts';
import { verifyOutput } from './read-back.ts';
import { makeSample } from './samples.ts';
import { type Newcomer, npmStart } from './service.ts';

// Checks what a newcomer meets on this machine with its installed programs: `npm start` runs, its example completes,
// offers match lists and validation, text is drawn, and every offered image pair holds. Requires only npm packages.

const print = (line: string) => process.stdout.write(`${line}\n`);
const failures: string[] = [];
const check = (what: string, isRight: boolean, detail = '') => {
  print(`${isRight ? 'ok    ' : 'FAILED'} ${what}${detail ? `: ${detail}` : ''}`);
  if (!isRight) failures.push(what);
};

interface Pair {
  operation: ProcessingOperation;
  from: string;
  to: string;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-newcomer-'));
  const service = await npmStart({ PORT: '0', LATHE_DATA: join(folder, 'data') });
  try {
    print(service.output());
    await tryLine(service);
    const catalogue = new Catalogue(engineCatalogues, (await findMissing()).engines);
    await compareOffers(service, catalogue);
    await lookAtText(service, catalogue);
  } finally {
    await service.stop();
  }
  if (!process.argv.includes('--no-matrix')) await proveImages(folder);
  await rm(folder, { recursive: true, force: true });
  print(failures.length === 0 ? 'All of it holds.' : `${failures.length} failed.`);
  process.exit(failures.length === 0 ? 0 : 1);
}

async function tryLine({ line }: Newcomer): Promise<void> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line]);
  const job: { status: string; tasks: { operation: string; status: string; result?: { url?: string } }[] } =
    JSON.parse(stdout);
  const tasks = job.tasks.map(({ operation, status }) => `${operation} ${status}`).join(', ');
  check('the printed line completes', job.status === 'completed', tasks);
  const response = await fetch(job.tasks.at(-1)?.result?.url ?? '');
  check('and produces a file', response.ok, `${response.headers.get('content-type')}`);
}

/** Compares the lists of the service with what it should offer, and requests what it does not. */
async function compareOffers(service: Newcomer, catalogue: Catalogue): Promise<void> {
  const client = new Client(service);
  const { body: health } = await client.call<{
    engines: { name: string; usable: boolean; missing?: { name: string }[] }[];
  }>('GET', '/health');
  for (const { name, usable, missing = [] } of health.engines)
    print(
      `       ${name}: ${usable ? 'usable' : 'off'}${missing.length ? `, without ${missing.map((part) => part.name).join(', ')}` : ''}`,
    );
  check(
    '/health reports the usable engines',
    health.engines.every(({ name, usable }) => usable === catalogue.isUsable(name)),
  );
  let listed = 0;
  const wrong: string[] = [];
  for (const operation of processingOperations) {
    for (const from of catalogue.inputs(operation, '*')) {
      const { body } = await client.call<{ formats: { ext: string }[] }>(
        'GET',
        `/v1/query/formats/${operation}?input_format=${from}`,
      );
      const offered = body.formats.map(({ ext }) => ext);
      listed += offered.length;
      if (offered.join() !== catalogue.outputs(operation, catalogue.canonical(from)).join())
        wrong.push(`${operation} ${from}`);
    }
  }
  check('format queries list the offers', wrong.length === 0, wrong.join(', ') || `${listed} pairs`);
  const dropped = new Catalogue(engineCatalogues)
    .inputs('convert', '*')
    .filter((from) => catalogue.outputs('convert', from).length === 0);
  for (const from of dropped.slice(0, 3)) {
    const { status } = await client.call('POST', '/v1/process/jobs', {
      tasks: {
        import: { operation: 'import/base64', file: 'data:,x', filename: `x.${from}` },
        convert: { operation: 'convert', input: 'import', input_format: from, output_format: 'png' },
      },
    });
    check(`a conversion from ${from}, which is not offered, is refused`, status === 400, String(status));
  }
}

const text = {
  svg: '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100"><rect width="400" height="100" fill="#fff"/><text x="10" y="70" font-size="60" font-family="sans-serif">Lathe Text</text></svg>',
  html: '<!doctype html><html><body style="margin:0;background:#fff"><p style="font: 60px sans-serif; margin: 10px">Lathe Text</p></body></html>',
};

/** Checks that text is drawn: without a font, letters are blank. */
async function lookAtText(service: Newcomer, catalogue: Catalogue): Promise<void> {
  const client = new Client(service);
  for (const [format, content] of Object.entries(text)) {
    if (!catalogue.find('convert', format, 'png')) continue;
    const file = `data:application/octet-stream;base64,${Buffer.from(content).toString('base64')}`;
    const { body: job } = await client.call<{ id: string }>('POST', '/v1/process/jobs', {
      tasks: {
        import: { operation: 'import/base64', file, filename: `text.${format}` },
        convert: { operation: 'convert', input: 'import', output_format: 'png' },
      },
    });
    let done = await client.call<{ status: string; tasks: { result?: { url?: string; msg?: string } }[] }>(
      'GET',
      `/v1/process/jobs/${job.id}/wait`,
    );
    while (!['completed', 'failed'].includes(done.body.status))
      done = await client.call('GET', `/v1/process/jobs/${job.id}/wait`);
    const result = done.body.tasks.at(-1)?.result;
    if (done.body.status !== 'completed' || !result?.url) {
      check(`text of ${format} is drawn`, false, result?.msg ?? done.body.status);
      continue;
    }
    const picture = Buffer.from(await (await fetch(result.url)).arrayBuffer());
    const kept = process.env.LATHE_NEWCOMER_KEEP;
    if (kept) await writeFile(join(kept, `text-${format}.png`), picture);
    const { data } = await sharp(picture)
      .flatten({ background: '#fff' })
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const dark = data.filter((value) => value < 100).length;
    check(`text of ${format} is drawn`, dark > 1_000, `${dark} dark pixels`);
  }
}

/** Converts every offered image pair once, in the engine's own sandbox, and checks the output. */
async function proveImages(folder: string): Promise<void> {
  const catalogue = new Catalogue(engineCatalogues, (await findMissing()).engines);
  const offered = processingOperations.flatMap((operation) =>
    catalogue.inputs(operation, '*').flatMap((from) =>
      catalogue
        .outputs(operation, from)
        .filter((to) => catalogue.find(operation, from, to)?.engine === 'image')
        .map((to): Pair => ({ operation, from, to })),
    ),
  );
  // Aliases of a format are counted with the pair that proves them.
  const keyOf = ({ operation, from, to }: Pair) =>
    `${operation} ${catalogue.canonical(from)} ${catalogue.canonical(to)}`;
  const distinct = [...new Set(offered.map(keyOf))];
  const samples = await makeSamples(new Set(distinct.map((key) => key.split(' ')[1] ?? '')), folder);
  const results = new Map<string, string>();
  const queue = distinct.values();
  const lane = async () => {
    const sandbox = new Sandbox({
      module: new URL('../../../functions/engines/image/run.ts', import.meta.url),
      memoryBytes: 3 * 1024 ** 3,
      network: false,
    });
    for (const key of queue) {
      results.set(key, await prove(key, samples, sandbox, catalogue));
      if (results.size % 500 === 0) print(`       ${results.size} of ${distinct.length} pairs tried`);
    }
    sandbox.stop();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  const count = (...outcomes: string[]) =>
    offered.filter((pair) => outcomes.includes(results.get(keyOf(pair)) ?? '')).length;
  const failed = [...results].filter(([, outcome]) => !['picture', 'header', 'no sample'].includes(outcome));
  for (const [key, reason] of failed) print(`       FAILED ${key}: ${reason.split('\n')[0]}`);
  print(`       image pairs offered: ${offered.length} (${distinct.length} apart from other spellings)`);
  print(
    `       converted and seen to be the same picture: ${count('picture')} (${[...results.values()].filter((outcome) => outcome === 'picture').length})`,
  );
  print(
    `       converted and checked by header or pages: ${count('header')}; without a sample here: ${count('no sample')}`,
  );
  check('every offered image pair with a sample here holds', failed.length === 0, `${failed.length} failed`);
  check('at least 1,500 image pairs are offered and hold', count('picture', 'header') >= 1_500);
}

async function makeSamples(formats: Set<string>, folder: string): Promise<Map<string, string>> {
  const samples = new Map<string, string>();
  for (const format of formats) {
    const own = join(folder, `sample-${format}`);
    await mkdir(own);
    const path = await makeSample(format, own);
    if (path) samples.set(format, path);
    else print(`       no sample of ${format} can be made here`);
  }
  return samples;
}

async function prove(
  key: string,
  samples: Map<string, string>,
  sandbox: Sandbox,
  catalogue: Catalogue,
): Promise<string> {
  const [name = '', from = '', to = ''] = key.split(' ');
  const operation = processingOperations.find((known) => known === name) ?? 'convert';
  const path = samples.get(from);
  if (path === undefined) return 'no sample';
  try {
    const input = { path, name: `sample.${from}`, format: from, size: (await stat(path)).size };
    const { options = [] } = catalogue.find(operation, from, to)?.capability ?? {};
    const { values } = checkOptions(options, operation === 'crop' ? { aspect: '1:1' } : {});
    const inputs = operation === 'merge' ? [input, input] : [input];
    const { outputs } = await runSandboxed(
      sandbox,
      { operation, inputs, outputFormat: to, options: values },
      { ...quietContext(), signal: AbortSignal.timeout(120_000) },
    );
    const [output] = outputs;
    if (!output) return 'there is no output';
    return await verifyOutput(output.path, { from, to, operation });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

await main();
