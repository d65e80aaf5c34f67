import { PDFDocument, rgb, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';

/** Makes a PDF with pages of text and shapes, some of them in landscape. */
export async function longPdf(pages: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (let number = 1; number <= pages; number++) {
    const page = document.addPage(number % 7 === 3 ? [842, 595] : [595, 842]);
    for (let line = 0; line < 30; line++) {
      const text = `Page ${number}, line ${line}: ${'lorem ipsum dolor sit amet '.repeat(3)}`;
      page.drawText(text, { x: 40, y: page.getHeight() - 50 - line * 17, size: 9, font });
    }
    page.drawCircle({ x: 300, y: 200, size: 40 + (number % 9) * 10, color: rgb((number % 10) / 10, 0.4, 0.7) });
  }
  return document.save();
}

/** Makes a PDF of scans: a picture of each line on a page of its own. */
export async function scannedPdf(lines: string[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (const line of lines) {
    const text = `<rect width="100%" height="100%" fill="white"/><text x="40" y="110" font-size="40">${line}</text>`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="200">${text}</svg>`;
    const picture = await document.embedJpg(await sharp(Buffer.from(svg)).jpeg().toBuffer());
    document.addPage([400, 100]).drawImage(picture, { x: 0, y: 0, width: 400, height: 100 });
  }
  return document.save();
}
