import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { AssetProps } from 'aws-cdk-lib/aws-s3-assets';

// Takes the place of infra/constructs/assets.ts in the package; see build.ts.

const folder = join(import.meta.dirname, 'assets');

/** The version of the service. */
export const version: string = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8')).version;

/** Returns the bundle of a function's module. */
export function bundleOf(entry: string): AssetCode {
  return Code.fromAsset(join(folder, 'bundles', entry.replace(/\.ts$/, '')));
}

/** Returns the build context of an engine's image. */
export function imageContext(engine: string): string {
  return join(folder, 'images', engine);
}

/** Throws an error: layers and their engine would be a hundred megabytes of the package. */
export function engineZip(): AssetCode {
  throw new Error('Expected image for webpagePackaging: the package has no layers.');
}

/** Throws an error, as `engineZip()` does. */
export function layerCode(): AssetCode {
  return engineZip();
}

/** Returns the build of the page. */
export function pageAsset(): AssetProps {
  return { path: join(folder, 'page') };
}
