import { extensionOf } from '../../../shared/files/names.ts';
import { rawFormat } from './decoders/raw-files.ts';

/** Unique signatures at fixed offsets. */
const marks: { format: string; at?: number; bytes: number[] | string }[] = [
  { format: 'psb', bytes: '8BPS\0\x02' },
  { format: 'psd', bytes: '8BPS\0\x01' },
  { format: 'xcf', bytes: 'gimp xcf ' },
  { format: 'dds', bytes: 'DDS |\0\0\0' },
  { format: 'exr', bytes: [0x76, 0x2f, 0x31, 0x01] },
  { format: 'hdr', bytes: '#?RADIANCE\n' },
  { format: 'hdr', bytes: '#?RGBE\n' },
  { format: 'icns', bytes: 'icns' },
  { format: 'blp', bytes: 'BLP1' },
  { format: 'blp', bytes: 'BLP2' },
  { format: 'msp', bytes: 'DanM' },
  { format: 'msp', bytes: 'LinS' },
  { format: 'im', bytes: 'Image type: ' },
  { format: 'ff', bytes: 'farbfeld' },
  { format: 'qoi', bytes: 'qoif' },
  { format: 'j2k', bytes: [0xff, 0x4f, 0xff, 0x51] },
  { format: 'sgi', bytes: [0x01, 0xda, 0x00, 0x01] },
  { format: 'sgi', bytes: [0x01, 0xda, 0x01, 0x01] },
  { format: 'sgi', bytes: [0x01, 0xda, 0x00, 0x02] },
  { format: 'sgi', bytes: [0x01, 0xda, 0x01, 0x02] },
  { format: 'ras', bytes: [0x59, 0xa6, 0x6a, 0x95] },
  { format: 'dpx', bytes: 'SDPX' },
  { format: 'dpx', bytes: 'XPDS' },
  { format: 'cin', bytes: [0x80, 0x2a, 0x5f, 0xd7] },
  { format: 'cin', bytes: [0xd7, 0x5f, 0x2a, 0x80] },
  { format: 'fits', bytes: 'SIMPLE  =' },
  { format: 'miff', bytes: 'id=ImageMagick' },
  { format: 'jng', bytes: [0x8b, 0x4a, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { format: 'mng', bytes: [0x8a, 0x4d, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { format: 'xpm', bytes: '/* XPM */' },
  { format: 'wpg', bytes: [0xff, 0x57, 0x50, 0x43] },
  { format: 'dcm', at: 128, bytes: 'DICM' },
  { format: 'vicar', bytes: 'LBLSIZE=' },
  { format: 'viff', bytes: [0xab, 0x01] },
  { format: 'vips', bytes: [0x08, 0xf2, 0xa6, 0xb6] },
  { format: 'vips', bytes: [0xb6, 0xa6, 0xf2, 0x08] },
  { format: 'dcx', bytes: [0xb1, 0x68, 0xde, 0x3a] },
  { format: 'pgx', bytes: 'PG ML' },
  { format: 'pgx', bytes: 'PG LM' },
  { format: 'pam', bytes: 'P7\nWIDTH' },
  { format: 'pfm', bytes: 'PF\n' },
  { format: 'pfm', bytes: 'Pf\n' },
];

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

const sameByName: Record<string, string> = {
  icb: 'tga',
  vda: 'tga',
  vst: 'tga',
  targa: 'tga',
  pct: 'pict',
};

/** Detects image formats that the general detection does not know or mistakes for others, from a file's first bytes. */
export function detect(bytes: Uint8Array, name: string): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const mark of marks) {
    const { at = 0 } = mark;
    const expected = typeof mark.bytes === 'string' ? Buffer.from(mark.bytes, 'latin1') : Buffer.from(mark.bytes);
    if (start.subarray(at, at + expected.length).equals(expected)) return mark.format;
  }
  const raw = rawFormat(start);
  if (raw) return raw;
  const text = start.toString('latin1', 0, 1024);
  const netpbm = /^P([1-6])\s+(?:#[^\n]*\n\s*)*\d/.exec(text)?.[1];
  if (netpbm) return { 1: 'pbm', 2: 'pgm', 3: 'ppm', 4: 'pbm', 5: 'pgm', 6: 'ppm' }[netpbm];
  if (/^(?:\/\*[^*]*\*\/\s*)?#define\s+\S+_width\s+\d/.test(text)) return 'xbm';
  if (/^(?:\xef\xbb\xbf)?\s*(?:<|$)/.test(text) && isSvg(start.toString('utf8'))) return 'svg';
  if (isAnimator(start)) return 'fli';
  if (isBareBitmap(start)) return 'bmp';
  const extension = extensionOf(name);
  const named = sameByName[extension] ?? extension;
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
