import { EngineError } from '../runtime/engine.ts';
import type { Message } from './message.ts';

const maxMessages = 10_000;
/** The line before each message: an address, and a date of C's asctime. */
const separator = /^From \S.{0,500}?\d{1,2}:\d{2}(?::\d{2})?.{0,60}$|^From (?:-|\S+@\S+|MAILER-DAEMON)(?: .*)?$/;
const from = Buffer.from('From ');

/** Splits a mailbox (RFC 4155) into its messages, without the quotation of lines that begin like its separators. */
export function splitMbox(bytes: Buffer): Buffer[] {
  const starts = separatorsIn(bytes);
  if (starts[0]?.at !== 0)
    throw new EngineError(
      'The file could not be read as a mailbox: it does not begin with a line such as "From ana@example.com Tue Mar  3 14:05:00 2026".',
    );
  if (starts.length > maxMessages)
    throw new EngineError(
      `The mailbox has ${starts.length.toLocaleString('en')} messages; the maximum is ${maxMessages.toLocaleString('en')}. Split it.`,
    );
  return starts.map(({ next }, index) => unquoted(bytes.subarray(next, starts[index + 1]?.at ?? bytes.length)));
}

/** Finds the lines between messages: at the start, or after an empty line. */
function separatorsIn(bytes: Buffer): { at: number; next: number }[] {
  const found: { at: number; next: number }[] = [];
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) {
    const isAfterEmptyLine =
      at === 0 || (bytes[at - 1] === 10 && (bytes[at - 2] === 10 || (bytes[at - 2] === 13 && bytes[at - 3] === 10)));
    if (!isAfterEmptyLine) continue;
    const end = bytes.indexOf(10, at);
    const next = end < 0 ? bytes.length : end + 1;
    const line = bytes.toString('latin1', at, Math.min(next, at + 600)).trimEnd();
    if (separator.test(line) && hasHeaders(bytes.subarray(next, next + 1000))) found.push({ at, next });
  }
  return found;
}

/** Returns whether a header follows, as after no line of text that happens to begin like a separator. */
function hasHeaders(bytes: Buffer): boolean {
  return /^(?:>From [^\n]*\n)?[!-9;-~]+[ \t]*:/.test(bytes.toString('latin1'));
}

/** Removes one mark of each quoted line, as in the formats mboxrd and mboxo. */
function unquoted(message: Buffer): Buffer {
  if (!message.includes('\n>From ') && !message.includes('\n>>')) return message;
  return Buffer.from(message.toString('latin1').replaceAll(/^>(>*From )/gm, '$1'), 'latin1');
}

/** Groups messages by their conversation, each in the order of their dates, and the conversations by their first message. */
export function threadsOf(messages: Message[]): Message[][] {
  const rootOf = new Map<string, string>();
  const find = (id: string): string => {
    let root = id;
    for (let next = rootOf.get(root); next !== undefined && next !== root; next = rootOf.get(root)) root = next;
    // Shortens the way for the next search.
    for (let at = id; at !== root; ) {
      const next = rootOf.get(at) ?? root;
      rootOf.set(at, root);
      at = next;
    }
    return root;
  };
  const ids = messages.map(({ id }, index) => id ?? `${index}`);
  for (const [index, { references }] of messages.entries())
    for (const reference of references) rootOf.set(find(ids[index] ?? ''), find(reference));
  const threads = Map.groupBy(messages.keys(), (index) => find(ids[index] ?? ''));
  const time = (message: Message | undefined) => message?.date?.time ?? Number.POSITIVE_INFINITY;
  const byDate = (one: Message | undefined, other: Message | undefined) => {
    const [left, right] = [time(one), time(other)];
    return left === right ? 0 : left < right ? -1 : 1;
  };
  return [...threads.values()]
    .map((indexes) => inReplyOrder(indexes.flatMap((index) => messages[index] ?? []).sort(byDate)))
    .sort(([one], [other]) => byDate(one, other));
}

/** Puts each message after the one that it answers, if that is there, whatever the clocks of their senders said. */
function inReplyOrder(thread: Message[]): Message[] {
  const byId = new Map(thread.flatMap((message) => (message.id === undefined ? [] : [[message.id, message] as const])));
  const done = new Set<Message>();
  const ordered: Message[] = [];
  for (const message of thread) {
    const chain: Message[] = [];
    const seen = new Set<Message>();
    for (let next: Message | undefined = message; next && !seen.has(next) && !done.has(next); ) {
      chain.push(next);
      seen.add(next);
      next = byId.get(next.references.findLast((id) => byId.has(id)) ?? '');
    }
    for (const each of chain.toReversed()) {
      done.add(each);
      ordered.push(each);
    }
  }
  return ordered;
}
