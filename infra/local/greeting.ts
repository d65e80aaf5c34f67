import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { type Faults, faultNames } from '../../packages/local-aws/src/faults/faults.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import type { MissingComponents } from '../../shared/catalogue/missing.ts';
import type { RunningStack } from './stack.ts';

/** An orange circle of 64 pixels, small enough for a command line. */
const sample =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABABAMAAABYR2ztAAAAMFBMVEUsPlDmfiJhUEOxay/hfCPbeiWSYTdqU0DJdCnEciqnaDJFRkqJXjk1QU4zQU5HR0kGnc+TAAAACXBIWXMAAAsTAAALEwEAmpwYAAAA6klEQVRIx2NgGAU0ALxqFiGuzUkXcMkzLREEAy8F7PLsEwWhQLIAmzy/oSAcCG/AoqBUEAmEY8rzCKKABAwFiagKxNDl2QTRwAE0BYXoCsTRvBCIrkAU1SPMghjAAL8N6HZMxFQgiRILglgAcoxwYVOwAEnBFWwK/JAUKGJTIIQ7nDFD2xCbAmEkBY3YFEggKQjEpkAUSYEjNgUipCggaAVBRxL0JtaAkiElqAlGFsHoJphgCCY5bIlWiLRkz00o4xDMeui5HzPzEsz+hAsQgkUQAzehQgy5GFQgryBlYOADF8WHHoxWSrQAANfsTV0shPRdAAAAAElFTkSuQmCC';

/** Returns the output of `npm start`: the URL, the API key, missing components, and a command that converts a file. */
export function greeting(
  { url, apiKey, faults }: Pick<RunningStack, 'url' | 'apiKey'> & Partial<Pick<RunningStack, 'faults'>>,
  missing: MissingComponents,
  platform: NodeJS.Platform = process.platform,
): string {
  const catalogue = new Catalogue(engineCatalogues, missing.engines);
  const lacks = missingLines(catalogue, missing, platform);
  return [
    '',
    `Lathe is at  ${url}`,
    `API key      ${apiKey}`,
    ...(lacks.length > 0 ? ['', ...lacks] : []),
    ...(faults ? ['', ...faultLines(faults)] : []),
    '',
    'Convert a file:',
    '',
    exampleLine(url, apiKey, exampleJob(catalogue)),
    '',
    `Reference: ${url}/docs`,
    '',
  ].join('\n');
}

/** Lists what each engine lacks by display names, and what this system cannot isolate. */
function missingLines(catalogue: Catalogue, { engines }: MissingComponents, platform: NodeJS.Platform): string[] {
  const lines = engineCatalogues.flatMap(({ engine, components = {} }) => {
    const labels = new Set(Object.keys(engines[engine] ?? {}).map((name) => components[name]?.label ?? name));
    if (labels.size === 0) return [];
    return [`  ${engine} ${catalogue.isUsable(engine) ? 'works without' : 'is off without'} ${[...labels].join(', ')}`];
  });
  return [
    ...(lines.length > 0 ? ['Not installed (/health says how to):', ...lines] : []),
    ...(platform === 'linux'
      ? []
      : [
          'Only Linux can isolate the conversion programs from the network and from your other files: convert only files you trust.',
        ]),
  ];
}

/** Lists the faults of the simulated AWS, and how to repeat them. */
function faultLines(faults: Faults): string[] {
  return [
    `AWS misbehaves (LATHE_LOCAL_FAULTS=${faults}):`,
    ...faults.names.map((name) => `  ${name}: ${faultNames[name]}`),
  ];
}

interface ExampleJob {
  tasks: Record<string, { operation: string; input?: string; [parameter: string]: string | undefined }>;
}

/** A conversion to the first format that this machine can write, or none. */
function exampleJob(catalogue: Catalogue): ExampleJob {
  const format = ['webp', 'jpg', 'pdf'].find((to) => catalogue.find('convert', 'png', to));
  return {
    tasks: {
      import: { operation: 'import/base64', file: sample, filename: 'circle.png' },
      ...(format ? { convert: { operation: 'convert', input: 'import', output_format: format } } : {}),
      export: { operation: 'export/url', input: format ? 'convert' : 'import' },
    },
  };
}

/** A line for any POSIX shell. Uses Node, because curl is not on every machine. */
function exampleLine(url: string, apiKey: string, job: ExampleJob): string {
  const script = [
    `const jobs = "${url}/v1/process/jobs"`,
    `const headers = { authorization: ${JSON.stringify(`Bearer ${apiKey}`)}, "content-type": "application/json" }`,
    `const body = JSON.stringify(${JSON.stringify(job)})`,
    'const json = async (response) => { const body = await response.json(); if (!response.ok) throw new Error(JSON.stringify(body)); return body }',
    // A wait ends after 25 seconds. A first conversion on a slow machine may take longer.
    'const wait = (id) => fetch(jobs + "/" + id + "/wait", { headers }).then(json).then((job) => job.endedAt ? job : wait(id))',
    'fetch(jobs, { method: "POST", headers, body }).then(json).then(({ id }) => wait(id)).then((job) => console.log(JSON.stringify(job, null, 2)))',
  ];
  return `node -e '${script.join('; ').replaceAll("'", "'\\''")}'`;
}
