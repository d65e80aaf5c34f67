import { program } from './image/programs.ts';

/** What ImageMagick, which no engine writes these formats with, finds in a picture. */
export interface PictureFacts {
  format: string;
  size: string;
  quality: number;
  /** `Palette`, `TrueColor`, `Grayscale`, `ColorSeparation`, … */
  type: string;
  interlace: string;
  compression: string;
  /** Dots per inch. */
  density: number;
}

/** Reads what a picture is from its file. */
export async function pictureFacts(path: string): Promise<PictureFacts> {
  const escapes = '%m;%wx%h;%Q;%[type];%[interlace];%C;%x;%U';
  const text = (await program('/usr/bin/identify', '-format', escapes, `${path}[0]`)).toString();
  const [format = '', size = '', quality, type = '', interlace = '', compression = '', x, unit] = text.split(';');
  const density = Math.round(Number(x) * (unit === 'PixelsPerCentimeter' ? 2.54 : 1));
  return { format, size, quality: Number(quality), type, interlace, compression, density };
}

/** Reads a pixel's colour as red, green, blue and opacity. */
export async function pixelAt(path: string, x: number, y: number): Promise<number[]> {
  const pixel = ['-crop', `1x1+${x}+${y}`, '-depth', '8', 'RGBA:-'];
  return [...(await program('/usr/bin/convert', `${path}[0]`, '-colorspace', 'sRGB', ...pixel))];
}
