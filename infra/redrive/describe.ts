import type { DeadLetter } from './dead-letters.ts';

/** Describes the subject of a message briefly: its task, file, delivery or event. */
export function subjectOf({ body }: Pick<DeadLetter, 'body'>): string {
  const message = parse(body);
  if (typeof message.taskId === 'string') return `task ${message.taskId}`;
  if (Array.isArray(message.Records))
    return `file ${message.Records.map((record) => textAt(record, 's3', 'object', 'key')).join(', ')}`;
  if (message.busEvent !== undefined) return `event for the bus, ${textAt(message, 'busEvent', 'name')}`;
  if (typeof message.delivery === 'string') return `delivery ${message.delivery} to webhook ${message.webhook}`;
  if (message.type === 'changed') {
    const kind = textAt(message, 'change', 'type');
    return `${kind} ${textAt(message, 'change', kind, 'id')}, ${textAt(message, 'change', kind, 'status')}`;
  }
  if (typeof message.type === 'string') return `connection ${message.connection}, ${message.type}`;
  return `message ${body.slice(0, 60)}`;
}

/** Returns the ids of a message in logs: its own, and its task's. */
export function idsIn({ id, body }: Pick<DeadLetter, 'id' | 'body'>): string[] {
  const { taskId } = parse(body);
  // The body is untrusted, and the id becomes part of a pattern.
  return [id, ...(typeof taskId === 'string' && /^[\w-]+$/.test(taskId) ? [taskId] : [])];
}

/** Returns the last error of a message, from the log lines that name it. */
export function causeIn(lines: string[], { id, body }: Pick<DeadLetter, 'id' | 'body'>): string | undefined {
  const ids = idsIn({ id, body });
  const last = lines
    .filter((line) => ids.some((name) => line.includes(name)))
    .map(parse)
    .filter(({ level }) => level === 'ERROR' || level === 'WARN')
    .sort((left, right) => String(left.timestamp).localeCompare(String(right.timestamp)))
    .at(-1);
  if (!last) return undefined;
  return [last.message, textAt(last, 'error', 'message'), textAt(last, 'error', 'cause', 'message')]
    .filter((text) => typeof text === 'string' && text !== '')
    .join(': ');
}

/** Formats a duration for people: 90 s, 5 min, 3 h, 2 d. */
export function ageOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(text)));
  } catch {
    // A line of a program, or a foreign message.
    return {};
  }
}

function textAt(value: unknown, ...path: string[]): string {
  let found: unknown = value;
  for (const name of path)
    found =
      typeof found === 'object' && found !== null ? Object.getOwnPropertyDescriptor(found, name)?.value : undefined;
  return typeof found === 'string' ? found : '';
}
