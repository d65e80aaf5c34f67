const marks: [format: string, start: string][] = [
  ['cpio', '07070'],
  ['cpio', '\xc7\x71'],
  ['squashfs', 'hsqs'],
  ['wim', 'MSWIM\0\0\0'],
  ['xar', 'xar!'],
  ['z', '\x1f\x9d'],
  ['zst', '\x28\xb5\x2f\xfd'],
];

/** Detects archives that the general detection does not know, and compressed streams with the extension of a tar. */
export function detect(start: Uint8Array, name: string): string | undefined {
  const text = Buffer.from(start.subarray(0, 8)).toString('latin1');
  const [mark] = marks.find(([, bytes]) => text.startsWith(bytes)) ?? [];
  if (mark === 'zst' && /\.(?:tar\.zst|tzst)$/i.test(name)) return 'tar.zst';
  if (mark === 'z' && /\.(?:tar\.z|taz)$/i.test(name)) return 'tar.z';
  if (mark !== undefined) return mark;
  // An lzh is recognized by its method, an lzma by the usual properties and a plausible dictionary size.
  if (/^-l(?:h[0-7d]|z[s45])-$/.test(text.slice(2, 7))) return 'lzh';
  if (/\.(?:lzma|tlz)$/i.test(name) && text.startsWith('\x5d\0\0'))
    return /\.tar\.lzma$/i.test(name) ? 'tar.lzma' : 'lzma';
  return undefined;
}
