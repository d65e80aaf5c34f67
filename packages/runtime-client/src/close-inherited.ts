import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC, which x86_64 and arm64 share. */
const closeOnExec = 0o2000000;

/**
 * Closes the descriptors that this process inherited without being meant to have them, except those to keep. Node starts
 * children with all that a native library of the parent opened without close-on-exec, such as the files of a database.
 *
 * Call it before anything else is opened. What Node itself opens is close-on-exec, so what is not was inherited; of
 * descriptors below 16, which Node marks when it starts, files and folders were, because Node keeps none open.
 */
export function closeInherited(keep: readonly number[] = []): void {
  // Elsewhere there is nothing to close: on macOS, libuv has children inherit only what they are given.
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor > 2 && !keep.includes(descriptor) && isInherited(descriptor)) closeSync(descriptor);
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    if ((Number.parseInt(flags, 8) & closeOnExec) === 0) return true;
    const found = fstatSync(descriptor);
    return found.isFile() || found.isDirectory();
  } catch (error) {
    // The one by which the list was read, which is closed by now.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EBADF')) return false;
    throw error;
  }
}
