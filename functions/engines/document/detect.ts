import { CompoundFile } from '../runtime/compound-file.ts';
import { detectIwork } from './detect-iwork.ts';

const compoundMark = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/** Streams that identify the application of a compound file, with the formats that share each. */
const streams: [stream: string, formats: string[]][] = [
  ['WordDocument', ['doc', 'dot']],
  ['Workbook', ['xls', 'xlt']],
  // Excel 5 and 95
  ['Book', ['xls', 'xlt']],
  ['PowerPoint Document', ['ppt', 'pps', 'pot']],
  ['VisioDocument', ['vsd']],
  ['Quill', ['pub']],
];

/** Class ID in the root of a compound file, without the part that is common to Microsoft's. */
const classes: Record<string, string> = {
  '01120200': 'pub',
  '111a0200': 'vsd',
  '121a0200': 'vsd',
  '131a0200': 'vsd',
  '141a0200': 'vsd',
};

/** Detects formats that the general detection does not know. */
export function detectDocument(start: Uint8Array, name: string): string | undefined {
  const starts = (mark: number[], at = 0) => mark.every((byte, index) => start[at + index] === byte);
  if (starts(compoundMark)) return detectCompound(Buffer.from(start), name);
  if (starts([0x50, 0x4b, 0x03, 0x04])) return detectIwork(Buffer.from(start), name);
  const text = Buffer.from(start.subarray(0, 64)).toString('latin1');
  if (text.startsWith('%!PS') && !/EPSF/.test(text)) return 'ps';
  if (starts([0xff, 0x57, 0x50, 0x43])) return 'wpd';
  if (starts([0xd7, 0xcd, 0xc6, 0x9a])) return 'wmf';
  if (starts([0x01, 0, 0, 0]) && starts([0x20, 0x45, 0x4d, 0x46], 40)) return 'emf';
  if (starts([0x00, 0x00, 0x02, 0x00, 0x06, 0x04]) || starts([0x00, 0x00, 0x02, 0x00, 0x05, 0x04])) return 'wk1';
  return undefined;
}

function detectCompound(start: Buffer, name: string): string | undefined {
  const root = rootClass(start);
  if (root) return root;
  // The directory may be beyond the bytes read for detection. Then the name decides, as for any compound file.
  const file = CompoundFile.read(start);
  const shared = streams.find(([stream]) => file?.has(stream))?.[1];
  if (!shared) return undefined;
  const named = shared.find((format) => name.toLowerCase().endsWith(`.${format}`));
  return named ?? shared[0];
}

function rootClass(start: Buffer): string | undefined {
  if (start.length < 512) return undefined;
  const sectorBytes = 1 << Math.min(12, start.readUInt16LE(30));
  const root = (start.readUInt32LE(48) + 1) * sectorBytes;
  return classes[start.toString('hex', root + 80, root + 84)];
}
