import { randomBytes } from 'node:crypto';

/**
 * ObjectIDs whose first four bytes are seconds, as everywhere, and whose next two are the fraction of that second:
 * the usual machine bytes there would leave ids made by different functions within a second in random order,
 * and lists and time-ordered keys rely on id order being creation order.
 */
let lastTime = 0;
let counter = 0;

/** Makes a new 24-hex ObjectID, greater than every id this process made before. */
export function newId(now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    counter = 0;
  } else {
    counter += 1;
    if (counter > 0xffff) {
      lastTime += 1;
      counter = 0;
    }
  }
  const bytes = randomBytes(12);
  bytes.writeUInt32BE(Math.floor(lastTime / 1000), 0);
  bytes.writeUInt16BE(Math.floor(((lastTime % 1000) * 0x10000) / 1000), 4);
  bytes.writeUInt16BE(counter, 6);
  return bytes.toString('hex');
}

/** Returns the smallest id a record created at that time could have, for range queries and key prefixes. */
export function firstIdAt(time: number): string {
  const seconds = Math.max(0, Math.floor(time / 1000));
  const fraction = Math.floor(((Math.max(0, time) % 1000) * 0x10000) / 1000);
  return seconds.toString(16).padStart(8, '0') + fraction.toString(16).padStart(4, '0') + '0'.repeat(12);
}

/** Returns the creation time in milliseconds (to the second) that an id carries. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) * 1000;
}

/** Tells whether a string has the form of an ObjectID. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}
