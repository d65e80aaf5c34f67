import { build } from 'esbuild';
import puppeteer from 'puppeteer-core';
import { findChromium } from '../../functions/engines/webpage/chromium.ts';

/** Bundles the client as the tools of web pages do. */
export async function bundleForBrowser(): Promise<{ code: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: ['packages/client/src/index.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}

/** Starts Chromium as on a machine without a desktop. */
export async function startBrowser() {
  return puppeteer.launch({
    executablePath: (await findChromium()).path,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  });
}
