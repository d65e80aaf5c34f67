/** Detects e-books by their signatures. */
export function detectBook(start: Uint8Array, name: string): string | undefined {
  const text = Buffer.from(start.subarray(0, 80)).toString('latin1');
  if (text.startsWith('ITOLITLS')) return 'lit';
  if (text.startsWith('L\0R\0F\0')) return 'lrf';
  const kind = text.slice(60, 68);
  if (kind === 'BOOKMOBI') return name.toLowerCase().endsWith('.azw3') ? 'azw3' : 'mobi';
  return ['TEXtREAd', 'PNRdPPrs', 'zTXTGPlm'].includes(kind) ? 'pdb' : undefined;
}
