import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow to five times what is in use before V8 collects garbage. By default, a function that holds little but
 * receives events of megabytes collects all of it with almost every event, which takes as long as the rest of its work.
 */
export function collectRarely(): void {
  setFlagsFromString('--heap-growing-percent=400');
}
