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
