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
import { type ImageTarget, type LoadOptions, moments, type PdfTarget, pageSizes, sides } from './targets.ts';

/** Larger files are not real pages. */
const maxBytes = 100 * 1024 ** 2;

// The browser starts while the first input is still being fetched.
warmBrowser();

/** Renders web pages with Chromium, which may load public addresses only. */
export const engine: Engine = {
  async run(work, { signal, progress }) {
    const allow = parseAllowHosts(process.env.LATHE_ALLOW_HOSTS);
    if (work.page !== undefined) return { outputs: [await importPage(work.page, work.folder, allow, signal)] };
    const outputs: OutputFile[] = [];
    const warnings = new Set<string>();
    for (const [index, input] of work.inputs.entries()) {
      if (input.size > maxBytes) throw new EngineError(`The file is larger than ${maxBytes / 1024 ** 2} MB.`);
      const output = join(work.folder, `${index}.${work.outputFormat}`);
      const contentType = catalogue.formats.find(({ ext }) => ext === input.format)?.mediaType ?? 'text/html';
      const found = await renderPage({
        source: { htmlPath: input.path, contentType },
        load: loadOptions(work.options, work.outputFormat),
        target: targetOf(work),
        output,
        allow,
        signal,
        progress: (percent) => progress((index * 100 + percent) / work.inputs.length),
      });
      for (const warning of found) warnings.add(warning);
      outputs.push({ path: output, name: withExtension(input.name, work.outputFormat), format: work.outputFormat });
    }
    return { outputs, warnings: [...warnings] };
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
    waitUntil: moments.find((moment) => moment === options.wait_until),
    hideCookie: options.hide_cookie !== false,
    usePrintStylesheet: usesPrintStyles(options, outputFormat),
  };
}

function targetOf({ options, outputFormat }: Work): ImageTarget | PdfTarget {
  if (outputFormat === 'pdf')
    return {
      format: 'pdf',
      followsPage: usesPrintStyles(options, outputFormat),
      pageSize: pageSizes.find((paper) => paper === options.page_size),
      orientation: orientations.find((orientation) => orientation === options.page_orientation),
      margins: Object.fromEntries(
        sides.flatMap((side) => {
          const margin = numberOf(options[`margin_${side}`] ?? options.margin);
          return margin === undefined ? [] : [[side, margin]];
        }),
      ),
      header: textOf(options.header_template),
      footer: textOf(options.footer_template),
      shrinkToFit: options.shrink_to_fit === true,
      printBackground: options.print_background !== false,
      isTagged: options.tagged !== false,
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

function usesPrintStyles({ use_print_stylesheet }: OptionValues, outputFormat: string): boolean {
  return outputFormat === 'pdf' ? use_print_stylesheet !== false : use_print_stylesheet === true;
}

const orientations = ['portrait', 'landscape'] as const;

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
