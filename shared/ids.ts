import { randomBytes } from 'node:crypto';

/**
 * ObjectIDs whose first four bytes are seconds, as usual, and whose next two are the fraction of that second. The usual
 * machine bytes would leave ids made by different functions within a second in random order, but lists and time-ordered
 * keys rely on ids being ordered by creation.
 */
let lastTime = 0;
let counter = 0;

/** Ids of a group differ only in the lowest bits of the counter, so that the group follows from each of them. */
const groupSize = 512;

/** Makes a new 24-hex ObjectID, greater than every id this process made before. */
export function newId(now: number = Date.now()): string {
  const [id = ''] = nextIds(1, 1, now);
  return id;
}

/** Makes the ids of a group: the job's, and those of its tasks in order. */
export function newGroup(tasks: number, now: number = Date.now()): { job: string; tasks: string[] } {
  if (tasks >= groupSize) throw new Error(`A group has fewer than ${groupSize} tasks, but ${tasks} were requested.`);
  const [job = '', ...rest] = nextIds(tasks + 1, groupSize, now);
  return { job, tasks: rest };
}

/** Returns the id of the group that an id belongs to, which is that of its job, if any. */
export function groupOfId(id: string): string {
  const counted = counterOf(id);
  return withCounter(id, counted - (counted % groupSize));
}

/** Returns the ids of a job's tasks in order. */
export function taskIdsOf(job: string, tasks: number): string[] {
  const first = counterOf(job) + 1;
  return Array.from({ length: tasks }, (_, index) => withCounter(job, first + index));
}

const counterOf = (id: string) => Number.parseInt(id.slice(12, 16), 16);
const withCounter = (id: string, counted: number) =>
  id.slice(0, 12) + counted.toString(16).padStart(4, '0') + id.slice(16);

/** Makes consecutive ids with the same random part. The counter of the first is a multiple of a number. */
function nextIds(count: number, multiple: number, now: number): string[] {
  const first = now > lastTime ? 0 : Math.ceil((counter + 1) / multiple) * multiple;
  const isFull = first + count - 1 > 0xffff;
  lastTime = Math.max(now, isFull ? lastTime + 1 : lastTime);
  const start = isFull ? 0 : first;
  counter = start + count - 1;
  const bytes = randomBytes(12);
  bytes.writeUInt32BE(Math.floor(lastTime / 1000), 0);
  bytes.writeUInt16BE(Math.floor(((lastTime % 1000) * 0x10000) / 1000), 4);
  return Array.from({ length: count }, (_, index) => {
    bytes.writeUInt16BE(start + index, 6);
    return bytes.toString('hex');
  });
}

/** Returns the smallest id of records created at a time, for range queries and key prefixes. */
export function firstIdAt(time: number): string {
  const seconds = Math.max(0, Math.floor(time / 1000));
  const fraction = Math.floor(((Math.max(0, time) % 1000) * 0x10000) / 1000);
  return seconds.toString(16).padStart(8, '0') + fraction.toString(16).padStart(4, '0') + '0'.repeat(12);
}

/** Returns the creation time of an id in milliseconds, to the second. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) * 1000;
}

/** Returns whether a string has the form of an ObjectID. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}
