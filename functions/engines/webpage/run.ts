import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import { type AllowedHosts, parseAllowHosts } from '../../../shared/net/addresses.ts';
import { changesPicture, withPictureOptions } from '../image/encoding-options.ts';
import { type Engine, EngineError, type OutputFile, type Work } from '../runtime/engine.ts';
import { settlePages, warmBrowser } from './browser.ts';
import { capturePage } from './capture.ts';
import { catalogue } from './catalogue.ts';
import { renderPage } from './render.ts';
import {
  type ImageTarget,
  type LoadOptions,
  type PageSize,
  type PdfTarget,
  pageSizes,
  type WaitUntil,
} from './targets.ts';

/** Larger files are not real pages. */
const maxBytes = 100 * 1024 ** 2;

// The first page need not wait for the browser: it starts while the input is still being fetched.
warmBrowser();

/** Renders web pages with Chromium, which may load public addresses only. */
export const engine: Engine = {
  async run(work, { signal, progress }) {
    const allow = parseAllowHosts(process.env.LATHE_ALLOW_HOSTS);
    if (work.page !== undefined) return { outputs: [await importPage(work.page, work.folder, allow, signal)] };
    const outputs: OutputFile[] = [];
    for (const [index, input] of work.inputs.entries()) {
      if (input.size > maxBytes) throw new EngineError(`The file is larger than ${maxBytes / 1024 ** 2} MB.`);
      const output = join(work.folder, `${index}.${work.outputFormat}`);
      const contentType = catalogue.formats.find(({ ext }) => ext === input.format)?.mediaType ?? 'text/html';
      await renderPage({
        source: { htmlPath: input.path, contentType },
        load: loadOptions(work.options, work.outputFormat),
        target: targetOf(work),
        output,
        allow,
        signal,
        progress: (percent) => progress((index * 100 + percent) / work.inputs.length),
      });
      outputs.push({ path: output, name: withExtension(input.name, work.outputFormat), format: work.outputFormat });
    }
    return { outputs };
  },
  settle: settlePages,
};

async function importPage(url: string, folder: string, allow: AllowedHosts, signal: AbortSignal): Promise<OutputFile> {
  const path = join(folder, 'page.html');
  await writeFile(path, await capturePage(url, { load: { hideCookie: true }, allow, signal }));
  return { path, name: withExtension(pageName(new URL(url)), 'html'), format: 'html' };
}

/** Returns a file name from the end of the page's path, decoded. */
function pageName({ hostname, pathname }: URL): string {
  const segment = pathname.split('/').findLast((part) => part !== '');
  if (segment === undefined) return `${hostname}.html`;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function loadOptions(options: OptionValues, outputFormat: string): LoadOptions {
  return {
    viewportWidth: numberOf(options.viewport_width),
    viewportHeight: numberOf(options.viewport_height),
    initialDelay: numberOf(options.initial_delay),
    deviceScale: outputFormat === 'pdf' ? undefined : numberOf(options.scale),
    waitUntil: waitUntilOf(options.wait_until),
    hideCookie: options.hide_cookie !== false,
    usePrintStylesheet: options.use_print_stylesheet === true,
  };
}

function targetOf({ options, outputFormat }: Work): ImageTarget | PdfTarget {
  if (outputFormat === 'pdf')
    return {
      format: 'pdf',
      landscape: options.page_orientation === 'landscape',
      printBackground: options.print_background !== false,
      pageSize: paperOf(options),
      margin: numberOf(options.margin),
      scale: numberOf(options.scale),
      layoutWidth: numberOf(options.viewport_width),
    };
  if (outputFormat !== 'png' && outputFormat !== 'jpg' && outputFormat !== 'webp')
    throw new Error(`The catalogue lists ${outputFormat}, which this engine does not write.`);
  return {
    format: outputFormat,
    fullPage: options.full_page !== false,
    quality: numberOf(options.quality),
    picture: changesPicture(options, withPictureOptions([], outputFormat), ['quality']) ? options : undefined,
  };
}

/** Default paper: that of the print style sheet, or ours for screen styles. */
function paperOf({ page_size, use_print_stylesheet }: OptionValues): PageSize | undefined {
  return pageSizes.find((paper) => paper === page_size) ?? (use_print_stylesheet === true ? undefined : 'A4');
}

const moments: readonly WaitUntil[] = ['domcontentloaded', 'load', 'networkidle2', 'networkidle0'];

function waitUntilOf(value: unknown): WaitUntil | undefined {
  return moments.find((moment) => moment === value);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
