import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineCatalogues, folderOf } from '../../functions/engines/runtime/catalogues.ts';
import { projectRoot } from '../bundling.ts';
import { findBuilder } from './builder.ts';
import { stageContext } from './context.ts';
import { EngineHost } from './runtime-api.ts';
import { type Sample, samples } from './samples.ts';

/** Compressed sizes that an image may have: what a cold start has to fetch grows with it. */
const maxMegabytes: Record<string, number> = { image: 180, archive: 120, media: 330, document: 700 };
const outputFolder = join(projectRoot, 'cdk.out/image-outputs');

const wanted = process.argv.slice(2);
const catalogues = engineCatalogues.filter(({ resources }) => resources.packaging === 'image');
const unknown = wanted.filter((name) => !catalogues.some(({ engine }) => engine === name));
if (unknown.length > 0) throw new Error(`Expected names of engines but received ${unknown.join(', ')}.`);

const builder = findBuilder();
for (const catalogue of catalogues) {
  const { engine, resources } = catalogue;
  if (wanted.length > 0 && !wanted.includes(engine)) continue;
  await buildAndTry(engine, folderOf(catalogue), resources.memoryMegabytes);
}

async function buildAndTry(engine: string, folder: string, memoryMegabytes: number): Promise<void> {
  const started = Date.now();
  builder.build(engine, stageContext(folder));
  const built = Date.now();
  const megabytes = builder.compressedBytes(engine) / 1e6;
  const limit = maxMegabytes[engine];
  console.log(
    `${engine}: built with ${builder.name} in ${seconds(built - started)}, ${megabytes.toFixed(1)} MB compressed` +
      (limit === undefined ? '' : ` of ${limit}`),
  );
  if (limit !== undefined && megabytes > limit) {
    console.error(`${engine}: the image is larger than ${limit} MB.`);
    process.exitCode = 1;
  }
  await convertSamples(engine, memoryMegabytes);
}

async function convertSamples(engine: string, memoryMegabytes: number): Promise<void> {
  const host = await EngineHost.start();
  const image = builder.start(engine, {
    AWS_LAMBDA_RUNTIME_API: host.address,
    AWS_LAMBDA_FUNCTION_NAME: engine,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${engine}`,
    AWS_LAMBDA_LOG_STREAM_NAME: engine,
  });
  image.process.stdout?.pipe(process.stdout);
  image.process.stderr?.pipe(process.stderr);
  image.process.once('exit', (code, signal) =>
    host.fail(new Error(`The image ended with ${signal ?? `code ${code}`}.`)),
  );
  try {
    for (const sample of samples.filter((candidate) => candidate.engine === engine)) await tryOut(host, sample);
  } finally {
    // Its output is closed by the last of its processes.
    const ended = once(image.process, 'close');
    if (image.process.exitCode === null) {
      image.stop();
      await ended;
    }
    host.stop();
  }
}

async function tryOut(host: EngineHost, sample: Sample): Promise<void> {
  const { engine, name, outputFormat, signature, skip = 0 } = sample;
  const started = Date.now();
  try {
    const output = await host.convert(sample);
    const path = join(outputFolder, `${engine}-${name}.${outputFormat}`);
    mkdirSync(outputFolder, { recursive: true });
    writeFileSync(path, output);
    const expected = typeof signature === 'string' ? Buffer.from(signature, 'latin1') : signature;
    if (!output.subarray(skip, skip + expected.length).equals(expected))
      throw new Error(`Expected a file that begins like ${outputFormat} but received ${path}`);
    console.log(`${engine}: ${name} → ${outputFormat} in ${seconds(Date.now() - started)}, ${output.length} bytes`);
  } catch (error) {
    console.error(`${engine}: ${name} → ${outputFormat} failed:`, error);
    process.exitCode = 1;
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
