import type { JsonObject } from '../../../shared/tasks/task.ts';
import { eventPacket } from './socket-io-packets.ts';

/** The protocol of a client: plain JSON or Socket.IO packets. */
export type Dialect = 'plain' | 'socket.io';

/** The message limit of API Gateway. */
export const maxMessageBytes = 128 * 1024;

export interface Message {
  event: string;
  channel?: string;
  /** A task or job as the API presents it, with its version, or other data of the event. */
  data: JsonObject;
}

/** Encodes a message in the dialect of a connection, truncated if it would exceed the limit. */
export function encode(dialect: Dialect, message: Message): string {
  for (const data of [message.data, ...smaller(message.data)]) {
    const text = write(dialect, { ...message, data });
    if (Buffer.byteLength(text) <= maxMessageBytes) return text;
  }
  return write(dialect, { ...message, data: { ...pick(message.data, ['id', 'version', 'status']), truncated: true } });
}

function write(dialect: Dialect, { event, channel, data }: Message): string {
  if (dialect === 'socket.io') return eventPacket(event, data);
  return JSON.stringify({ event, channel, data });
}

// Clients fetch the full data from the API; a job without its tasks still has its result.
function* smaller(data: JsonObject): Generator<JsonObject> {
  const { tasks: _tasks, payload: _payload, docs: _docs, ...rest } = data;
  if (Array.isArray(data.tasks)) {
    const tasks = data.tasks.flatMap((task) =>
      typeof task === 'object' && task !== null && !Array.isArray(task)
        ? [pick(task, ['id', 'version', 'name', 'operation', 'status', 'progress', 'endedAt'])]
        : [],
    );
    yield { ...rest, tasks, truncated: true };
  }
  if (Array.isArray(data.docs)) yield { ...rest, docs: data.docs.slice(0, 10), truncated: true };
  yield { ...rest, truncated: true };
}

function pick(object: JsonObject, names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}
