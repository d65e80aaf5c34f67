import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool, type Workspace } from './pdf-file.ts';

/** Debian installs it on disk; other builds embed it. */
const debianProfile = '/usr/share/color/icc/ghostscript/srgb.icc';
export const srgbProfile = existsSync(debianProfile) ? debianProfile : '%rom%iccprofiles/srgb.icc';

/** Runs Ghostscript with access to the given files only. */
export async function ghostscript(input: string, output: string, args: string[], reads: string[], space: Workspace) {
  const permits = [
    ...[input, ...reads].map((path) => `--permit-file-read=${path}`),
    `--permit-file-write=${output}`,
    `--permit-file-control=${output}`,
  ];
  const fixed = ['-dSAFER', '-dBATCH', '-dNOPAUSE', '-dQUIET', '-dNOPROMPT', '-sDEVICE=pdfwrite'];
  // Safer mode still allows programs to read, write and delete files in the temporary folder.
  const temporary = join(space.folder, 'gs-tmp');
  await mkdir(temporary, { recursive: true });
  const all = [...permits, ...fixed, `-sOutputFile=${output}`, ...args, input];
  await runTool('gs', all, space, [0], temporary);
}

/**
 * Arguments that stop PostScript from walking directories, to be followed by the input. In safer mode Ghostscript
 * withholds the names that `filenameforall` finds, but still searches the whole file system for them, /proc included.
 * The operator is replaced in the system dictionary, which is then made read-only, as it is by default.
 */
export const withoutDirectoryWalks = [
  '-dWRITESYSTEMDICT',
  '-c',
  [
    'true setglobal',
    'systemdict /filenameforall { /filenameforall cvx /invalidfileaccess signalerror } bind put',
    'false setglobal',
    'systemdict readonly pop',
  ].join(' '),
  '-f',
];

/** Returns Ghostscript's error message, which it writes to standard output, and whether the program accessed forbidden files. */
export function postScriptError(stdout: string): { said: string; asksForFiles: boolean } {
  const lines = stdout.trim().split('\n');
  const start = lines.findIndex((line) => line.startsWith('Error:'));
  const said = lines.slice(Math.max(0, start)).slice(0, 5).join('\n').slice(0, 2000);
  return { said, asksForFiles: said.startsWith('Error: /invalidfileaccess') };
}

/** Rewrites a PDF for archiving, as PDF/A of the given part. Its conformance is not validated. */
export async function archiveWithGhostscript(
  input: string,
  output: string,
  part: number,
  space: Workspace,
): Promise<void> {
  const definition = join(space.folder, 'pdfa.ps');
  await writeFile(
    definition,
    `%!
[/_objdef {icc_PDFA} /type /stream /OBJ pdfmark
[{icc_PDFA} << /N 3 >> /PUT pdfmark
[{icc_PDFA} (${srgbProfile}) (r) file /PUT pdfmark
[/_objdef {OutputIntent_PDFA} /type /dict /OBJ pdfmark
[{OutputIntent_PDFA} << /Type /OutputIntent /S /GTS_PDFA1 /DestOutputProfile {icc_PDFA} /OutputConditionIdentifier (sRGB) >> /PUT pdfmark
[{Catalog} << /OutputIntents [{OutputIntent_PDFA}] >> /PUT pdfmark
`,
  );
  const args = [
    `-dPDFA=${part}`,
    // Drops what the standard forbids instead of writing a non-conforming file.
    '-dPDFACompatibilityPolicy=1',
    '-sColorConversionStrategy=RGB',
    definition,
  ];
  await ghostscript(input, output, args, [definition, srgbProfile], space);
}
