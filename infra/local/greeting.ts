import type { RunningStack } from './stack.ts';

/** An orange circle of 64 pixels, small enough for a command line. */
const sample =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABABAMAAABYR2ztAAAAMFBMVEUsPlDmfiJhUEOxay/hfCPbeiWSYTdqU0DJdCnEciqnaDJFRkqJXjk1QU4zQU5HR0kGnc+TAAAACXBIWXMAAAsTAAALEwEAmpwYAAAA6klEQVRIx2NgGAU0ALxqFiGuzUkXcMkzLREEAy8F7PLsEwWhQLIAmzy/oSAcCG/AoqBUEAmEY8rzCKKABAwFiagKxNDl2QTRwAE0BYXoCsTRvBCIrkAU1SPMghjAAL8N6HZMxFQgiRILglgAcoxwYVOwAEnBFWwK/JAUKGJTIIQ7nDFD2xCbAmEkBY3YFEggKQjEpkAUSYEjNgUipCggaAVBRxL0JtaAkiElqAlGFsHoJphgCCY5bIlWiLRkz00o4xDMeui5HzPzEsz+hAsQgkUQAzehQgy5GFQgryBlYOADF8WHHoxWSrQAANfsTV0shPRdAAAAAElFTkSuQmCC';

/** Says where the API is, with which key, and a line that converts a file when it is pasted. */
export function greeting({ url, apiKey }: RunningStack, enginesOff: Record<string, string>): string {
  const job = {
    tasks: {
      import: { operation: 'import/base64', file: sample, filename: 'circle.png' },
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
      export: { operation: 'export/url', input: 'convert' },
    },
  };
  const auth = `-H 'Authorization: Bearer ${apiKey}'`;
  const off = Object.entries(enginesOff).map(([engine, reason]) => `  ${engine} is off: ${reason}`);
  return [
    '',
    `Lathe is at  ${url}`,
    `API key      ${apiKey}`,
    ...(off.length > 0 ? ['', ...off] : []),
    '',
    'Convert a file:',
    '',
    `JOB=$(curl -s ${url}/v1/process/jobs ${auth} -H 'Content-Type: application/json' -d '${JSON.stringify(job)}' | cut -d '"' -f 4); curl -s ${url}/v1/process/jobs/$JOB/wait ${auth}`,
    '',
    `Reference: ${url}/docs`,
    '',
  ].join('\n');
}
