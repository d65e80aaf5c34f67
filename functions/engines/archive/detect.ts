const marks: { format: string; offset: number; bytes: number[] }[] = [
  { format: 'cpio', offset: 0, bytes: [...Buffer.from('07070')] },
  { format: 'cpio', offset: 0, bytes: [0xc7, 0x71] },
  { format: 'squashfs', offset: 0, bytes: [...Buffer.from('hsqs')] },
  { format: 'wim', offset: 0, bytes: [...Buffer.from('MSWIM\0\0\0')] },
  { format: 'xar', offset: 0, bytes: [...Buffer.from('xar!')] },
  { format: 'z', offset: 0, bytes: [0x1f, 0x9d] },
  { format: 'zst', offset: 0, bytes: [0x28, 0xb5, 0x2f, 0xfd] },
];

/** Detects archives that the general detection does not know, and compressed streams with the extension of a tar. */
export function detect(start: Uint8Array, name: string): string | undefined {
  const mark = marks.find(({ offset, bytes }) => bytes.every((byte, index) => start[offset + index] === byte))?.format;
  if (mark === 'zst' && /\.(?:tar\.zst|tzst)$/i.test(name)) return 'tar.zst';
  if (mark === 'z' && /\.(?:tar\.z|taz)$/i.test(name)) return 'tar.z';
  if (mark !== undefined) return mark;
  // An lzh is recognized by its method, an lzma by the usual properties and a plausible dictionary size.
  if (/^-l(?:h[0-7d]|z[s45])-$/.test(Buffer.from(start.subarray(2, 7)).toString('latin1'))) return 'lzh';
  if (/\.(?:lzma|tlz)$/i.test(name) && start[0] === 0x5d && start[1] === 0 && start[2] === 0)
    return /\.tar\.lzma$/i.test(name) ? 'tar.lzma' : 'lzma';
  return undefined;
}
