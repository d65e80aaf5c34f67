import { EventEmitter, once } from 'node:events';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { Outcome } from './run-case.ts';
import { type Health, type Service, SmokeError } from './service.ts';

type Addresses = Health['websocket'];

interface Client {
  subscribe(channel: string): void;
  close(): void;
}

/** The kinds of clients. Each emits `open`, the events it receives, and `error`. */
export const clients: Record<string, (addresses: Addresses, key: string, inbox: EventEmitter) => Client> = {
  websocket({ url }, key, inbox) {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
    socket.on('open', () => inbox.emit('open'));
    socket.on('message', (text) => {
      const { event, data } = JSON.parse(String(text));
      inbox.emit(event, event === 'error' ? new Error(data.msg) : data);
    });
    socket.on('error', (error) => inbox.emit('error', error));
    socket.on('close', (code) => inbox.emit('error', new Error(`it was closed with ${code}`)));
    return {
      subscribe: (channel) => socket.send(JSON.stringify({ action: 'subscribe', channel })),
      close: () => socket.terminate(),
    };
  },

  'socket.io'({ socketIo: { url, path } }, key, inbox) {
    const token = `Bearer ${key}`;
    const socket = io(url, { path, transports: ['websocket'], auth: { token }, forceNew: true, reconnection: false });
    socket.on('connect', () => inbox.emit('open'));
    socket.onAny((event, data) => inbox.emit(event, event === 'error' ? new Error(data.msg) : data));
    socket.on('connect_error', (error) => inbox.emit('error', error));
    socket.on('disconnect', (reason) => inbox.emit('error', new Error(`it was closed: ${reason}`)));
    return {
      subscribe: (channel) => socket.emit('subscribe', channel),
      close: () => socket.disconnect(),
    };
  },
};

/** Connects a client as described by /health, subscribes to a job and waits for the event of its end. */
export async function checkEvents(
  service: Service,
  { websocket }: Pick<Health, 'websocket'>,
  kind: string,
  { key, seconds }: { key: string; seconds: number },
): Promise<Outcome> {
  const inbox = new EventEmitter().on('error', () => undefined);
  const signal = AbortSignal.timeout(seconds * 1000);
  let awaited = 'open';
  const next = (event: string) => {
    awaited = event;
    return once(inbox, event, { signal });
  };
  const opened = next('open');
  const client = clients[kind]?.(websocket, key, inbox);
  try {
    await opened;
    const job = await service.createJob({
      upload: { operation: 'import/upload' },
      link: { operation: 'export/url', input: 'upload' },
    });
    const form = job.tasks.find(({ name }) => name === 'upload')?.result.form;
    if (!form) throw new SmokeError('The upload task has no form.');
    const subscribed = next('subscribed');
    client?.subscribe(`job.${job.id}`);
    await subscribed;
    const [[data]] = await Promise.all([next('job_completed'), service.upload(form, 'note.txt', Buffer.from('hello'))]);
    return { result: 'ok', bytes: JSON.stringify(data).length };
  } catch (error) {
    if (error instanceof SmokeError) return { result: 'failed', reason: error.message };
    const problem = signal.aborted ? `nothing in ${seconds} seconds` : String(error);
    return { result: 'failed', reason: `The connection to ${websocket.url} waited for ${awaited}: ${problem}.` };
  } finally {
    client?.close();
  }
}
