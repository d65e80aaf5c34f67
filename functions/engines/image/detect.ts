import { extensionOf } from '../../../shared/files/names.ts';
import { rawFormat } from './decoders/raw-files.ts';
import { imageFormats } from './formats.ts';

/** Unique signatures at the start of a file, one byte per character. */
const marks: Record<string, string[]> = {
  psb: ['8BPS\0\x02'],
  psd: ['8BPS\0\x01'],
  xcf: ['gimp xcf '],
  dds: ['DDS |\0\0\0'],
  exr: ['\x76\x2f\x31\x01'],
  hdr: ['#?RADIANCE\n', '#?RGBE\n'],
  icns: ['icns'],
  blp: ['BLP1', 'BLP2'],
  msp: ['DanM', 'LinS'],
  im: ['Image type: '],
  ff: ['farbfeld'],
  qoi: ['qoif'],
  j2k: ['\xff\x4f\xff\x51'],
  sgi: ['\x01\xda\x00\x01', '\x01\xda\x01\x01', '\x01\xda\x00\x02', '\x01\xda\x01\x02'],
  ras: ['\x59\xa6\x6a\x95'],
  dpx: ['SDPX', 'XPDS'],
  cin: ['\x80\x2a\x5f\xd7', '\xd7\x5f\x2a\x80'],
  fits: ['SIMPLE  ='],
  miff: ['id=ImageMagick'],
  jng: ['\x8bJNG\r\n\x1a\n'],
  mng: ['\x8aMNG\r\n\x1a\n'],
  xpm: ['/* XPM */'],
  wpg: ['\xffWPC'],
  vicar: ['LBLSIZE='],
  viff: ['\xab\x01'],
  vips: ['\x08\xf2\xa6\xb6', '\xb6\xa6\xf2\x08'],
  dcx: ['\xb1\x68\xde\x3a'],
  pgx: ['PG ML', 'PG LM'],
  pam: ['P7\nWIDTH'],
  pfm: ['PF\n', 'Pf\n'],
};

/** Formats without a distinct signature. They are detected if the extension matches and the header is plausible. */
const plausible: Record<string, (start: Buffer) => boolean> = {
  tga: (start) =>
    [1, 2, 3, 9, 10, 11].includes(start[2] ?? 0) &&
    (start[1] ?? 2) <= 1 &&
    start.length > 18 &&
    start.readUInt16LE(12) > 0 &&
    start.readUInt16LE(14) > 0 &&
    [8, 15, 16, 24, 32].includes(start[16] ?? 0),
  pcx: (start) => start[0] === 0x0a && (start[1] ?? 9) <= 5 && start[2] === 1,
  wbmp: (start) => start[0] === 0 && start[1] === 0,
  avs: (start) => start.length > 8 && start.readUInt32BE(0) < 65_536 && start.readUInt32BE(4) < 65_536,
  aai: (start) => start.length > 8 && start.readUInt32LE(0) < 65_536 && start.readUInt32LE(4) < 65_536,
  pict: (start) => start.length > 540 && start.subarray(0, 512).every((byte) => byte === 0),
  mat: (start) => start.toString('latin1', 0, 10) === 'MATLAB 5.0',
};

/** Detects image formats that the general detection does not know or mistakes for others, from a file's first bytes. */
export function detect(bytes: Uint8Array, name: string): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = start.toString('latin1', 0, 1024);
  // Anything may come before this mark, also the mark of another format.
  if (text.startsWith('DICM', 128)) return 'dcm';
  const marked = Object.entries(marks).find(([, signatures]) => signatures.some((mark) => text.startsWith(mark)));
  if (marked) return marked[0];
  const raw = rawFormat(start);
  if (raw) return raw;
  const netpbm = /^P([1-6])\s+(?:#[^\n]*\n\s*)*\d/.exec(text)?.[1];
  if (netpbm) return { 1: 'pbm', 2: 'pgm', 3: 'ppm', 4: 'pbm', 5: 'pgm', 6: 'ppm' }[netpbm];
  if (/^(?:\/\*[^*]*\*\/\s*)?#define\s+\S+_width\s+\d/.test(text)) return 'xbm';
  if (/^(?:\xef\xbb\xbf)?\s*(?:<|$)/.test(text) && isSvg(start.toString('utf8'))) return 'svg';
  if (isAnimator(start)) return 'fli';
  if (isBareBitmap(start)) return 'bmp';
  const extension = extensionOf(name);
  const named = imageFormats.find(({ aliases }) => aliases?.includes(extension))?.ext ?? extension;
  return Object.hasOwn(plausible, named) && plausible[named]?.(start) ? named : undefined;
}

/** Returns whether a file is an Autodesk Animator animation. The header has to confirm its signature of only two bytes. */
function isAnimator(start: Buffer): boolean {
  if (start.length < 128 || ![0xaf11, 0xaf12].includes(start.readUInt16LE(4))) return false;
  return start.readUInt16LE(6) > 0 && start.readUInt16LE(8) > 0 && start.readUInt16LE(10) > 0;
}

/** Returns whether a file is a bitmap without a file header. */
function isBareBitmap(start: Buffer): boolean {
  if (start.length < 40 || ![40, 108, 124].includes(start.readUInt32LE(0))) return false;
  const [width, height] = [start.readInt32LE(4), Math.abs(start.readInt32LE(8))];
  return (
    width > 0 &&
    width < 65_536 &&
    height > 0 &&
    height < 65_536 &&
    start.readUInt16LE(12) === 1 &&
    [1, 2, 4, 8, 16, 24, 32].includes(start.readUInt16LE(14)) &&
    start.readUInt32LE(16) <= 6
  );
}

/** Returns whether the root element of an XML text is svg. */
function isSvg(text: string): boolean {
  let rest = text.replace(/^\uFEFF/, '').trimStart();
  while (rest.startsWith('<?') || rest.startsWith('<!')) {
    let end: number;
    if (rest.startsWith('<!--')) end = rest.indexOf('-->') + 3;
    else if (rest.startsWith('<?')) end = rest.indexOf('?>') + 2;
    else {
      const subset = rest.indexOf('[');
      const close = rest.indexOf('>');
      end = subset >= 0 && subset < close ? rest.indexOf('>', rest.indexOf(']')) + 1 : close + 1;
    }
    if (end <= 2) return false;
    rest = rest.slice(end).trimStart();
  }
  return /^<(?:[A-Za-z][\w.-]*:)?svg[\s/>]/.test(rest);
}
