import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Lathe, LatheError } from '@lathe-convert/client';

const extensions = new Set(['.heic', '.heif', '.jpg', '.jpeg', '.png']);
/** The longest side of each picture, in pixels. */
const sizes = { small: 480, large: 2048 };
/** Conversions at the same time. An account may have 50 instant conversions in progress. */
const concurrency = 4;

const lathe = new Lathe({ url: process.env.LATHE_URL, key: process.env.LATHE_API_KEY });

interface Photo {
  name: string;
  small: string;
  large: string;
}

/** Converts a photo to WebP in both sizes, unless the outputs are newer than the photo. */
async function convert(from: string, to: string, name: string): Promise<Photo> {
  const source = join(from, name);
  const { mtimeMs } = await stat(source);
  // IMG_1.HEIC and IMG_1.JPG are two photos: the name of the output keeps the extension.
  const photo = { name, small: join('small', `${name}.webp`), large: join('large', `${name}.webp`) };
  for (const size of ['small', 'large'] as const) {
    const target = join(to, photo[size]);
    const existing = await stat(target).catch(() => undefined);
    if (existing && existing.mtimeMs >= mtimeMs) continue;
    const { files } = await lathe.convert(source, {
      to: 'webp',
      options: { image_custom_width: sizes[size], image_custom_height: sizes[size], fit: 'max', quality: 80 },
    });
    const [file] = files;
    if (!file) throw new Error(`The conversion of ${name} has no result.`);
    await lathe.download(file, target);
  }
  return photo;
}

/** Calls a function for each item, several at the same time, and returns the outcomes in order. */
async function mapConcurrently<T, R>(items: T[], limit: number, map: (item: T) => Promise<R>) {
  const outcomes: PromiseSettledResult<R>[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) [outcomes[index]] = await Promise.allSettled([map(item)]);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return outcomes;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
const href = (path: string) => escapeHtml(path.split(/[\\/]/).map(encodeURIComponent).join('/'));

function page(photos: Photo[]): string {
  const figures = photos.map(
    ({ name, small, large }) => `
    <a href="${href(large)}"><img src="${href(small)}" alt="${escapeHtml(name)}" loading="lazy"></a>`,
  );
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Photos</title>
  <style>
    body { margin: 1rem; font-family: system-ui, sans-serif; }
    main { display: grid; gap: .5rem; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }
    img { width: 100%; aspect-ratio: 1; object-fit: cover; display: block; }
  </style>
  <main>${figures.join('')}
  </main>
</html>
`;
}

const [from, to] = process.argv.slice(2);
if (!from || !to) {
  console.error('Usage: node gallery.ts <folder of photos> <folder of the site>');
  process.exit(2);
}
for (const size of Object.keys(sizes)) await mkdir(join(to, size), { recursive: true });
const names = (await readdir(from)).filter((name) => extensions.has(extname(name).toLowerCase())).sort();
const outcomes = await mapConcurrently(names, concurrency, (name) => convert(from, to, name));
const photos = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
await writeFile(join(to, 'index.html'), page(photos));
for (const [index, outcome] of outcomes.entries()) {
  if (outcome.status === 'fulfilled') continue;
  const { reason } = outcome;
  console.error(`${names[index]}: ${reason instanceof LatheError ? `${reason.errorCode}: ${reason.msg}` : reason}`);
  process.exitCode = 1;
}
console.log(`${photos.length} of ${names.length} photos are in ${join(to, 'index.html')}`);
