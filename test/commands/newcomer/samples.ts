import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { imageFormat } from '../../../functions/engines/image/formats.ts';
import { engine } from '../../../functions/engines/image/run.ts';
import { makeCr2, makeCr3 } from '../../engines/image/raw/canon.ts';
import { makeOrf, makeRaf, makeRw2 } from '../../engines/image/raw/own-containers.ts';
import { readScene, type Scene } from '../../engines/image/raw/sensor.ts';
import { makeArw, makeDng, makeNef, makePef, makeSrw } from '../../engines/image/raw/tiff-cameras.ts';
import { drawing, original } from '../../engines/image/samples.ts';
import { quietContext } from '../../support/sandboxed.ts';

const cameras: Record<string, (scene: Scene) => Buffer | Promise<Buffer>> = {
  arw: makeArw,
  cr2: makeCr2,
  cr3: makeCr3,
  dng: makeDng,
  nef: makeNef,
  orf: makeOrf,
  pef: makePef,
  raf: makeRaf,
  rw2: makeRw2,
  srw: makeSrw,
};

/**
 * Makes a sample of an image format with npm packages and test code alone. Returns undefined for formats that neither
 * can write.
 */
export async function makeSample(format: string, folder: string): Promise<string | undefined> {
  const content = await contentOf(format, folder);
  if (content === undefined) return undefined;
  const path = join(folder, `sample.${format}`);
  await writeFile(path, content);
  return path;
}

async function contentOf(format: string, folder: string): Promise<Uint8Array | undefined> {
  const camera = cameras[format];
  if (camera) return camera(await scene());
  if (format === 'svg') return Buffer.from(drawing);
  if (format === 'svgz') return gzipSync(drawing);
  if (format === 'mpo')
    return sharp(await original())
      .jpeg({ quality: 95 })
      .toBuffer();
  if (format === 'ico') return iconOf(await original());
  if (format === 'pdf' || imageFormat(format).write) return byEngine(format, folder);
  return undefined;
}

/** Makes an icon that is not square, which the engine does not write. */
async function iconOf(picture: Buffer): Promise<Buffer> {
  const png = await sharp(picture).png().toBuffer();
  const { width, height } = await sharp(png).metadata();
  const header = Buffer.from([0, 0, 1, 0, 1, 0, width, height, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 22, 0, 0, 0]);
  header.writeUInt32LE(png.length, 14);
  return Buffer.concat([header, png]);
}

async function scene(): Promise<Scene> {
  const picture = sharp(await original()).removeAlpha();
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return readScene(Buffer.concat([Buffer.from(`P6\n${info.width} ${info.height}\n255\n`), data]));
}

async function byEngine(format: string, folder: string): Promise<Buffer> {
  const path = join(folder, 'original.png');
  await writeFile(path, await original());
  const inputs = [{ path, name: 'original.png', format: 'png', size: (await stat(path)).size }];
  const context = quietContext();
  const { outputs } = await engine.run(
    { operation: 'convert', inputs, outputFormat: format, options: {}, folder },
    context,
  );
  const [output] = outputs;
  if (!output) throw new Error(`The engine wrote no ${format}.`);
  return readFile(output.path);
}
