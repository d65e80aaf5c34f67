import { PDFDocument, rgb, StandardFonts } from '@cantoo/pdf-lib';

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
