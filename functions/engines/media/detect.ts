/** Detects media formats that the general detection does not know or names differently. */
export function detectMedia(start: Uint8Array): string | undefined {
  return signatures.find(({ matches }) => matches(start))?.ext;
}

const wtvGuid = [0xb7, 0xd8, 0x00, 0x20, 0x37, 0x49, 0xda, 0x11, 0xa6, 0x4e, 0x00, 0x07, 0xe9, 0x5e, 0xad, 0x8d];
const w64Guid = [0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11];

const signatures: { ext: string; matches(start: Uint8Array): boolean }[] = [
  { ext: 'w64', matches: (start) => has(start, 0, w64Guid) },
  { ext: 'rf64', matches: (start) => text(start, 0, 4) === 'RF64' && text(start, 8, 4) === 'WAVE' },
  { ext: 'ts', matches: (start) => repeats(start, 0x47, 0, 188) || repeats(start, 0x47, 4, 192) },
  { ext: 'mpg', matches: (start) => has(start, 0, [0x00, 0x00, 0x01, 0xba]) },
  { ext: 'm1v', matches: (start) => isSequence(start) && !isMpeg2(start) },
  { ext: 'm2v', matches: (start) => isSequence(start) && isMpeg2(start) },
  {
    ext: 'hevc',
    matches: (start) => [32, 33, 35].includes(((nalHeader(start) ?? 0) >> 1) & 0x3f) && hasHevcHeader(start),
  },
  { ext: 'h264', matches: (start) => [0x67, 0x27, 0x47, 0x09].includes(nalHeader(start) ?? 0) },
  { ext: 'dv', matches: (start) => has(start, 0, [0x1f, 0x07, 0x00]) && ((start[3] ?? 0) & 0x7f) === 0x3f },
  { ext: 'mxf', matches: (start) => has(start, 0, [0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02]) },
  { ext: 'y4m', matches: (start) => text(start, 0, 10) === 'YUV4MPEG2 ' },
  { ext: 'nut', matches: (start) => text(start, 0, 24) === 'nut/multimedia container' },
  { ext: 'ivf', matches: (start) => text(start, 0, 4) === 'DKIF' },
  { ext: 'wtv', matches: (start) => has(start, 0, wtvGuid) },
  { ext: 'swf', matches: (start) => /^[FCZ]WS/.test(text(start, 0, 3)) && (start[3] ?? 0) < 60 },
  { ext: 'ra', matches: (start) => has(start, 0, [0x2e, 0x72, 0x61, 0xfd]) },
  { ext: 'rm', matches: (start) => text(start, 0, 4) === '.RMF' },
  { ext: 'ismv', matches: (start) => text(start, 4, 4) === 'ftyp' && ['isml', 'piff'].includes(text(start, 8, 4)) },
  { ext: 'aifc', matches: (start) => text(start, 0, 4) === 'FORM' && text(start, 8, 4) === 'AIFC' },
  { ext: 'aiff', matches: (start) => text(start, 0, 4) === 'FORM' && text(start, 8, 4) === 'AIFF' },
  { ext: '8svx', matches: (start) => text(start, 0, 4) === 'FORM' && /^(?:8|16)SV/.test(text(start, 8, 4)) },
  { ext: 'eac3', matches: (start) => has(start, 0, [0x0b, 0x77]) && (start[5] ?? 0) >> 3 > 10 },
  { ext: 'ac3', matches: (start) => has(start, 0, [0x0b, 0x77]) },
  {
    ext: 'dts',
    matches: (start) => has(start, 0, [0x7f, 0xfe, 0x80, 0x01]) || has(start, 0, [0xfe, 0x7f, 0x01, 0x80]),
  },
  { ext: 'thd', matches: (start) => has(start, 4, [0xf8, 0x72, 0x6f, 0xba]) },
  { ext: 'mlp', matches: (start) => has(start, 4, [0xf8, 0x72, 0x6f, 0xbb]) },
  { ext: 'amr', matches: (start) => text(start, 0, 6) === '#!AMR\n' },
  { ext: 'au', matches: (start) => text(start, 0, 4) === '.snd' },
  { ext: 'caf', matches: (start) => text(start, 0, 4) === 'caff' },
  { ext: 'tta', matches: (start) => text(start, 0, 4) === 'TTA1' },
  { ext: 'sox', matches: (start) => ['.SoX', 'XoS.'].includes(text(start, 0, 4)) },
  { ext: 'sf', matches: (start) => isIrcam(start) },
  { ext: 'mmf', matches: (start) => text(start, 0, 4) === 'MMMD' },
  { ext: 'ast', matches: (start) => text(start, 0, 4) === 'STRM' && text(start, 64, 4) === 'BLCK' },
  { ext: 'adx', matches: (start) => has(start, 0, [0x80, 0x00]) && isAdx(start) },
  { ext: 'mpc', matches: (start) => text(start, 0, 4) === 'MPCK' || isMusepack7(start) },
  { ext: 'ape', matches: (start) => text(start, 0, 4) === 'MAC ' },
  { ext: 'avr', matches: (start) => text(start, 0, 4) === '2BIT' },
  { ext: 'sph', matches: (start) => text(start, 0, 7) === 'NIST_1A' },
  { ext: 'pvf', matches: (start) => /^PVF[12]\n/.test(text(start, 0, 5)) },
  { ext: 'dsf', matches: (start) => text(start, 0, 4) === 'DSD ' },
  { ext: 'dff', matches: (start) => text(start, 0, 4) === 'FRM8' && text(start, 12, 4) === 'DSD ' },
  { ext: 'flac', matches: (start) => text(start, 0, 4) === 'fLaC' },
];

function has(start: Uint8Array, offset: number, bytes: number[]): boolean {
  return bytes.every((byte, index) => start[offset + index] === byte);
}

function text(start: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...start.subarray(offset, offset + length));
}

/** Four consecutive packets; a false match happens once in four billion files. */
function repeats(start: Uint8Array, mark: number, offset: number, step: number): boolean {
  return [0, 1, 2, 3].every((packet) => start[offset + packet * step] === mark);
}

function isSequence(start: Uint8Array): boolean {
  return has(start, 0, [0x00, 0x00, 0x01, 0xb3]);
}

/** MPEG-2 adds an extension right after the sequence header; MPEG-1 has none. */
function isMpeg2(start: Uint8Array): boolean {
  for (let at = 4; at + 3 < Math.min(start.length, 256); at++) {
    if (has(start, at, [0x00, 0x00, 0x01])) return start[at + 3] === 0xb5;
  }
  return false;
}

function nalHeader(start: Uint8Array): number | undefined {
  if (has(start, 0, [0x00, 0x00, 0x00, 0x01])) return start[4];
  return has(start, 0, [0x00, 0x00, 0x01]) ? start[3] : undefined;
}

/** The second byte of an HEVC unit's header is the temporal id, 1 in parameter sets; H.264 has no such byte. */
function hasHevcHeader(start: Uint8Array): boolean {
  const at = start[2] === 1 ? 4 : 5;
  return nalHeader(start) !== undefined && start[at] === 0x01;
}

function isIrcam(start: Uint8Array): boolean {
  const isMarked = has(start, 0, [0x64, 0xa3]) || has(start, 0, [0x00, 0x64, 0xa3]);
  return isMarked && ((start[3] ?? 9) <= 4 || (start[2] ?? 9) <= 4);
}

/** The version is in the low half of the byte after the signature. */
function isMusepack7(start: Uint8Array): boolean {
  return text(start, 0, 3) === 'MP+' && ((start[3] ?? 0) & 0x0f) === 7;
}

function isAdx(start: Uint8Array): boolean {
  const offset = ((start[2] ?? 0) << 8) | (start[3] ?? 0);
  return text(start, offset - 2, 6) === '(c)CRI';
}
