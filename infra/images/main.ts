import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineCatalogues, folderOf } from '../../functions/catalogue/catalogues.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import { projectRoot } from '../bundling.ts';
import { type Sample, samples } from '../smoke/samples.ts';
import { BuildahBuilder } from './buildah.ts';
import type { Builder } from './builder.ts';
import { containers, stageContainer } from './container.ts';
import { stageContext } from './context.ts';
import { DockerBuilder } from './docker.ts';
import { ImageStack, type StartEngine } from './image-stack.ts';
import { succeeds } from './shell.ts';
import { tryContainer } from './try-container.ts';
import { maxUnzippedBytes, startZip, unzip } from './zip.ts';

/** Maximum compressed sizes of images: cold starts grow with them. */
const maxMegabytes: Record<string, number> = { image: 180, archive: 120, media: 330, document: 700 };
const outputFolder = join(projectRoot, 'cdk.out/image-outputs');

const wanted = process.argv.slice(2);
const catalogues = engineCatalogues.filter(({ resources }) => resources.packaging === 'image');
const names = [...catalogues.map(({ engine }) => engine), ...containers];
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`Expected some of ${names.join(', ')} but received ${unknown.join(', ')}.`);

const builder = findBuilder();
for (const catalogue of catalogues) {
  const { engine } = catalogue;
  if (wanted.length > 0 && !wanted.includes(engine)) continue;
  try {
    await buildAndTry(catalogue);
  } catch (error) {
    fail(`${engine}: ${messageOf(error)}`);
  }
}

for (const name of containers.filter((each) => wanted.includes(each))) {
  try {
    buildImage(name, await stageContainer(name));
    await tryContainer(builder, name);
  } catch (error) {
    fail(`${name}: ${messageOf(error)}`);
  }
}

async function buildAndTry(catalogue: EngineCatalogue): Promise<void> {
  const { engine, resources } = catalogue;
  const context = stageContext(folderOf(catalogue));
  if (resources.layers) {
    const unzipped = unzip(engine, context, resources.layers);
    const megabytes = unzipped.bytes / 1024 ** 2;
    console.log(
      `${engine}: ${megabytes.toFixed(1)} MB as a zip with layers ${resources.layers.join(' and ')}, unzipped`,
    );
    if (unzipped.bytes > maxUnzippedBytes) fail(`${engine}: Lambda takes at most 250 MB.`);
    const standing = await convertSamples(engine, 'zip', (variables) => startZip(unzipped, variables));
    // As documented in the deploy guide. A barrier that stands here would not exist on Lambda's runtime.
    if (standing !== 'environment') fail(`${engine} (zip): expected no barrier but environment to stand.`);
  }
  buildImage(engine, context);
  await convertSamples(engine, 'image', (variables) => builder.start(engine, variables));
}

/** Finds docker, podman or buildah. Installs buildah on Debian if there is none of them. */
function findBuilder(): Builder {
  const program = ['docker', 'podman'].find((each) => succeeds([each, 'info']));
  return program === undefined ? new BuildahBuilder() : new DockerBuilder(program);
}

function buildImage(engine: string, context: string): void {
  const started = Date.now();
  builder.build(engine, context);
  const built = Date.now();
  const megabytes = builder.compressedBytes(engine) / 1e6;
  const limit = maxMegabytes[engine];
  console.log(
    `${engine}: built with ${builder.name} in ${seconds(built - started)}, ${megabytes.toFixed(1)} MB compressed` +
      (limit === undefined ? '' : ` of ${limit}`),
  );
  if (limit !== undefined && megabytes > limit) fail(`${engine}: the image is larger than ${limit} MB.`);
}

/** Converts the samples of an engine, and returns the standing barriers. */
async function convertSamples(engine: string, packaging: string, start: StartEngine): Promise<string> {
  // Not before the build, which blocks this process for minutes: connections to the stack would time out.
  const stack = await ImageStack.start(engine, start);
  try {
    for (const sample of samples.filter((candidate) => candidate.engine === engine))
      await tryOut(stack, sample, packaging);
    const standing = (await stack.standingBarriers(engine)).join(', ');
    console.log(`${engine} (${packaging}): barriers that stood: ${standing}`);
    return standing;
  } finally {
    await stack.stop();
  }
}

async function tryOut(stack: ImageStack, sample: Sample, packaging: string): Promise<void> {
  const { engine, name, outputFormat, signature, skip = 0, minBytes = 0 } = sample;
  const started = Date.now();
  try {
    const output = await stack.convert(sample);
    const path = join(outputFolder, `${engine}-${packaging}-${name}.${outputFormat}`);
    mkdirSync(outputFolder, { recursive: true });
    writeFileSync(path, output);
    if (output.toString('latin1', skip, skip + signature.length) !== signature)
      throw new Error(`Expected a file that begins like ${outputFormat} but received ${path}`);
    if (output.length < minBytes)
      throw new Error(`Expected at least ${minBytes} bytes, with text, but received ${path}`);
    console.log(
      `${engine} (${packaging}): ${name} → ${outputFormat} in ${seconds(Date.now() - started)}, ${output.length} bytes`,
    );
  } catch (error) {
    fail(`${engine} (${packaging}): ${name} → ${outputFormat} failed: ${messageOf(error)}`);
  }
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
