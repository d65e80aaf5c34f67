import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import sharp, { type Sharp } from 'sharp';

/** Draws a scene with what photographs have: slow gradients, sharp edges, texture and grain. */
async function scene(width: number, height: number, seed: number): Promise<Sharp> {
  const hills = Array.from({ length: 12 }, (_, index) => {
    const x = ((index * 7919 + seed * 104_729) % 100) * (width / 100);
    const y = height * (0.45 + ((index * 31 + seed * 17) % 50) / 100);
    const hue = (index * 47 + seed * 90) % 360;
    return `<ellipse cx="${x}" cy="${y}" rx="${width / 5}" ry="${height / 9}" fill="hsl(${hue},45%,45%)"/>`;
  });
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><linearGradient id="g" x2="0" y2="1"><stop stop-color="hsl(${seed * 60},70%,75%)"/><stop offset="1" stop-color="hsl(${seed * 60 + 120},40%,25%)"/></linearGradient></defs><rect width="100%" height="100%" fill="url(#g)"/>${hills.join('')}</svg>`;
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 26 };
  const grain = await sharp({ create: { width, height, channels: 3, background: '#808080', noise } })
    .blur(0.8)
    .png()
    .toBuffer();
  return sharp(Buffer.from(drawing)).composite([{ input: grain, blend: 'soft-light' }]);
}

/** Makes a PDF of four pages: text, two photographs of different resolution, a picture without loss and a grey one. */
export async function makePhotoPdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const first = document.addPage([595, 842]);
  for (let line = 0; line < 40; line++)
    first.drawText(`Line ${line} of a page without pictures`, { x: 50, y: 780 - line * 16, size: 11, font });
  const wide = await document.embedJpg(await (await scene(1000, 750, 1)).jpeg({ quality: 93 }).toBuffer());
  document.addPage([595, 842]).drawImage(wide, { x: 40, y: 400, width: 515, height: 386 });
  const dense = await document.embedJpg(await (await scene(840, 600, 2)).jpeg({ quality: 88 }).toBuffer());
  document.addPage([595, 842]).drawImage(dense, { x: 40, y: 500, width: 210, height: 150 });
  const last = document.addPage([595, 842]);
  const exact = await document.embedPng(await (await scene(300, 240, 3)).png().toBuffer());
  last.drawImage(exact, { x: 40, y: 400, width: 300, height: 240 });
  const grey = await document.embedJpg(await (await scene(420, 300, 4)).greyscale().jpeg({ quality: 90 }).toBuffer());
  last.drawImage(grey, { x: 40, y: 100, width: 300, height: 214 });
  return document.save();
}
