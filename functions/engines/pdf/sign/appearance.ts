import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import type { Job } from '../job.ts';
import { type Form, formOf } from '../marks/apply.ts';
import { drawPicture, drawTexts, missingCharacters } from '../marks/draw.ts';
import type { DisplayedPage, Matrix, Size } from '../marks/geometry.ts';
import { PdfObjects } from '../objects.ts';

interface Content {
  text: string;
  picture: InputFile | undefined;
}

const style = { color: '#000000', font: 'sans', align: 'left' } as const;
/** Distance between a picture and the text next to it, and from the edges, relative to the height of the box. */
const gapShare = 0.06;

/** Draws what a visible signature shows, upright on its page, and returns it with warnings. */
export async function drawAppearance(
  { text, picture }: Content,
  box: Size,
  { matrix }: DisplayedPage,
  objects: PdfObjects,
  job: Job,
): Promise<{ reference: string; warnings: string[] }> {
  const parts: Form[] = [];
  if (picture) parts.push(await embed('picture', (inner) => drawPicture(picture, inner), objects, job));
  if (text !== '') parts.push(await embed('text', (inner) => drawTexts([text], style, inner), objects, job));
  if (parts.length === 0) throw new EngineError('A visible signature needs a text or a picture.');
  const missing = text === '' ? [] : await missingCharacters([text], job);
  const gap = box.height * gapShare;
  const width = (box.width - gap * (parts.length + 1)) / parts.length;
  const commands = parts.map((part, index) => {
    const scale = Math.min(width / part.width, (box.height - 2 * gap) / part.height);
    const left = gap + index * (width + gap) + (parts.length === 1 ? (width - part.width * scale) / 2 : 0);
    const bottom = (box.height - part.height * scale) / 2;
    return `q ${[scale, 0, 0, scale, left, bottom].map((each) => each.toFixed(5)).join(' ')} cm /Part${index} Do Q\n`;
  });
  const [a, b, c, d] = matrix;
  const unit = Math.hypot(a, b) || 1;
  // Only turned: the annotation's rectangle scales and places it.
  const turned: Matrix = [a / unit, b / unit, c / unit, d / unit, 0, 0];
  const reference = objects.addStream(
    {
      '/Type': '/XObject',
      '/Subtype': '/Form',
      '/BBox': [0, 0, box.width, box.height],
      '/Matrix': turned,
      '/Resources': {
        '/XObject': Object.fromEntries(parts.map((part, index) => [`/Part${index}`, part.reference])),
      },
    },
    commands.join(''),
  );
  const warnings = missing.length > 0 ? [`No installed font has these characters: ${missing.join(' ')}`] : [];
  return { reference, warnings };
}

/** Draws something on a page of its own and copies that page as a form. */
async function embed(name: string, draw: (job: Job) => Promise<string>, objects: PdfObjects, job: Job): Promise<Form> {
  const folder = join(job.folder, name);
  await mkdir(folder);
  const inner = { ...job, folder };
  const source = await PdfObjects.read(await draw(inner), inner, { withData: true });
  const form = formOf(source.pages[0] ?? '', source);
  return { ...form, reference: objects.copyFrom(source, form.reference) };
}
