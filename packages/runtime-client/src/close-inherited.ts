import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC, which x86_64 and arm64 share. */
const closeOnExec = 0o2000000;

/**
 * Closes descriptors that this process inherited unintentionally, except those to keep. Node passes children everything
 * that a native library of the parent opened without close-on-exec, such as database files.
 *
 * Call it before anything else is opened. Node opens everything with close-on-exec, so other descriptors were
 * inherited. Node marks descriptors below 16 at startup; among these, files and folders were inherited, because Node
 * keeps none open.
 */
export function closeInherited(keep: readonly number[] = []): void {
  // Not needed elsewhere: on macOS, libuv passes children only the given descriptors.
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
    // The descriptor for reading the list, which is closed by now.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EBADF')) return false;
    throw error;
  }
}
