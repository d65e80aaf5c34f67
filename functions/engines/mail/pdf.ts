import { writeFile } from 'node:fs/promises';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { parseAllowHosts } from '../../../shared/net/addresses.ts';
import type { WorkContext } from '../runtime/engine.ts';
import { renderPage } from '../webpage/render.ts';
import { pageSizes, sides } from '../webpage/targets.ts';

/** Draws a page that loads nothing. Returns warnings. */
export async function drawPdf(
  page: string,
  output: string,
  { margin, page_orientation: orientation, page_size: size }: OptionValues,
  { progress, signal }: WorkContext,
): Promise<string[]> {
  const htmlPath = `${output}.html`;
  await writeFile(htmlPath, page);
  return renderPage({
    source: { htmlPath },
    load: { usePrintStylesheet: true },
    target: {
      format: 'pdf',
      pageSize: pageSizes.find((paper) => paper === size),
      orientation: orientation === 'landscape' ? 'landscape' : 'portrait',
      margins: Object.fromEntries(sides.map((side) => [side, typeof margin === 'number' ? margin : 15])),
      shrinkToFit: true,
    },
    output,
    allow: parseAllowHosts(''),
    isOffline: true,
    signal,
    progress,
  });
}
