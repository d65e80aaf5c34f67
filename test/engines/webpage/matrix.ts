import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import type { EngineMatrix } from '../matrix.ts';

/** Four coloured fields in a script's order, words in several scripts, and a style that is for wide windows only. */
const body = `<style>
  body { margin: 0; font: 24px sans-serif }
  .fields { display: grid; grid-template-columns: 1fr 1fr }
  .fields div { height: 200px }
</style></head><body>
<div class="fields" id="fields"></div>
<p>Quick brown fox. Grüße aus Köln. Καλημέρα.</p>
<script>
for (const colour of ['#ff0000', '#00ff00', '#0000ff', '#ffff00']) {
  const field = document.createElement('div');
  field.style.background = colour;
  document.getElementById('fields').append(field);
}
</script></body></html>`;

const samples: Record<string, string> = {
  html: `<!doctype html><html><head><meta charset="utf-8"><title>Sample</title>${body}`,
  xhtml: `<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Sample</title>${body
    .replace('<script>', '<script>//<![CDATA[')
    .replace('</script>', '//]]></script>')}`,
};

const words = ['Quick', 'brown', 'fox.', 'Grüße', 'Köln.', 'Καλημέρα.'];

/** Decodes a picture with ffmpeg, which the engine does not use, into rows of three bytes a pixel. */
export async function decode(
  path: string,
): Promise<{ width: number; height: number; at(x: number, y: number): number[] }> {
  const folder = await mkdtemp(`${path}-`);
  const fields = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'stream=width,height', '-of', 'csv=p=0'];
  const { stdout } = await runProgram('ffprobe', [...fields, path], { cwd: folder });
  const [width = 0, height = 0] = stdout.trim().split(',').map(Number);
  const raw = join(folder, 'raw');
  await runProgram('ffmpeg', ['-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'rgb24', raw], { cwd: folder });
  const pixels = await readFile(raw);
  return { width, height, at: (x, y) => [...pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)] };
}

/** Paints the first page of a PDF with poppler. */
export async function paint(path: string, page = 1): Promise<string> {
  const out = `${path}-${page}`;
  const range = ['-f', String(page), '-l', String(page)];
  await runProgram('pdftoppm', ['-png', '-r', '72', '-singlefile', ...range, path, out], { cwd: join(path, '..') });
  return `${out}.png`;
}

/** Fails unless a pixel has about this colour. */
export function expectColour(found: number[], wanted: number[], where: string): void {
  if (found.length !== 3 || found.some((value, index) => Math.abs(value - (wanted[index] ?? 0)) > 24))
    throw new Error(`Expected the colour ${wanted} ${where} but found ${found}.`);
}

export const matrix: EngineMatrix = {
  engine: 'webpage',
  async sample(format, folder) {
    const path = join(folder, `sample.${format}`);
    const text = samples[format];
    if (text === undefined) throw new Error(`No sample is made of ${format}.`);
    await writeFile(path, text);
    return path;
  },
  async verify(output) {
    let picture = output.path;
    if (output.format === 'pdf') {
      const cwd = join(output.path, '..');
      const { stdout } = await runProgram('pdftotext', [output.path, '-'], { cwd });
      const missing = words.filter((word) => !stdout.includes(word));
      if (missing.length > 0) throw new Error(`The PDF lacks the words ${missing}.`);
      const info = await runProgram('pdfinfo', [output.path], { cwd });
      if (!/^Pages: +1$/m.test(info.stdout)) throw new Error(`Expected one page but pdfinfo says ${info.stdout}.`);
      picture = await paint(output.path);
    }
    const { width, height, at } = await decode(picture);
    if (output.format !== 'pdf' && width !== 1440) throw new Error(`Expected 1440 pixels in width but found ${width}.`);
    // On paper the fields are within the margin of 10 mm, at 72 dots to the inch and 96 pixels of the page.
    const inset = output.format === 'pdf' ? 28 : 0;
    const field = output.format === 'pdf' ? 150 : 200;
    const rows = [inset + field / 2, inset + field * 1.5].map(Math.round);
    const columns = [Math.round(width * 0.25), Math.round(width * 0.75)];
    const wanted = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
      [255, 255, 0],
    ];
    if (height < 2 * field) throw new Error(`Expected at least ${2 * field} pixels in height but found ${height}.`);
    for (const [index, colour] of wanted.entries())
      expectColour(at(columns[index % 2] ?? 0, rows[Math.floor(index / 2)] ?? 0), colour, `in field ${index}`);
  },
};
