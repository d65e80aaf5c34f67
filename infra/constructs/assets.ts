import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AssetHashType } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { AssetProps } from 'aws-cdk-lib/aws-s3-assets';
import { projectRoot } from '../bundling.ts';
import { fingerprint } from '../fingerprint.ts';
import { stageContext } from '../images/context.ts';
import { run } from '../images/shell.ts';
import { installContext } from '../images/zip.ts';
import { pageBuild, pageFingerprint } from '../page-build.ts';
import { localBundling } from './local-bundling.ts';

// Everything that the stack takes from this checkout. The package packages/cdk brings its own copies instead.

const bundler = `${projectRoot}/infra/bundle-function.ts`;
/** The sources of layers, in addition to the files of their folders. */
const layerSources = ['functions/engines/webpage/packages.txt', 'node_modules/@sparticuz/chromium/package.json'];

/** The version of the service. */
export const version: string = JSON.parse(readFileSync(`${projectRoot}/package.json`, 'utf8')).version;

/** Returns the bundle of a function's module. */
export function bundleOf(entry: string): AssetCode {
  return Code.fromAsset(projectRoot, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      ...localBundling((folder) => run([process.execPath, bundler, entry, folder])),
      // Distinguishes assets of one folder for the CDK, which cannot inspect a function.
      command: [entry],
    },
  });
}

/** Returns the build context of an engine's image. */
export function imageContext(folder: string): string {
  return stageContext(folder);
}

/** Returns the modules and packages that an engine loads, as a zip. */
export function engineZip(folder: string): AssetCode {
  const context = stageContext(folder);
  return Code.fromAsset(context, {
    assetHash: basename(context),
    bundling: localBundling((output) => installContext(context, output)),
  });
}

/** Returns the content of a layer. */
export function layerCode(name: string): AssetCode {
  const folder = join(projectRoot, 'layers', name);
  return Code.fromAsset(folder, {
    assetHash: fingerprint([`layers/${name}`, ...layerSources]),
    bundling: localBundling((output) => run([process.execPath, join(folder, 'build.ts'), output])),
  });
}

/** Returns the build of the page. */
export function pageAsset(): AssetProps {
  return {
    path: `${projectRoot}/web`,
    assetHash: pageFingerprint(),
    bundling: localBundling((folder) => run(pageBuild(folder))),
  };
}
