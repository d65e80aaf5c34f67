import { tmpdir } from 'node:os';

/** Returns the folder for files of programs that stay running. Other temporary files are deleted before each task. */
export function warmFolder(): string {
  return process.env.LATHE_WARM ?? tmpdir();
}
