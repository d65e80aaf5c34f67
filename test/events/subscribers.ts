import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { until, type WaitOptions } from '../support/until.ts';

/** An event as a client received it. */
export interface Received {
  event: string;
  id: string;
  version: number;
  status: string;
  /** Which of the client's connections it came by, from 0. */
  connection: number;
  at: number;
}

export interface Subscriber {
  readonly received: Received[];
  /** Everything that was received, including responses to subscriptions and errors. */
  readonly messages: { event: string; channel?: string; data: Record<string, unknown> }[];
  readonly connections: number;
  subscribe(channel: string): void;
  close(): void;
}

export interface Service {
  url: string;
  apiKey: string;
}

/** Where sockets connect, as /health says. */
export interface SocketAddresses {
  url: string;
  socketIo: { url: string; path: string };
}

/** Returns the addresses that the README gives for this machine. */
function wellKnown({ url }: Service): SocketAddresses {
  const host = url.replace('http', 'ws');
  return { url: `${host}/ws`, socketIo: { url: host, path: '/socket.io' } };
}

abstract class RecordingSubscriber implements Subscriber {
  readonly received: Received[] = [];
  readonly messages: Subscriber['messages'] = [];
  connections = 0;

  protected take(message: Subscriber['messages'][number]): void {
    this.messages.push(message);
    const { event, data } = message;
    if (!/^(?:job|task)_/.test(event)) return;
    this.received.push({
      event,
      id: String(data.id),
      version: Number(data.version),
      status: String(data.status),
      connection: this.connections - 1,
      at: performance.now(),
    });
  }

  abstract subscribe(channel: string): void;
  abstract close(): void;
}

/** A client on plain WebSockets that reconnects and subscribes to its channels again. */
export class PlainSubscriber extends RecordingSubscriber {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #channels = new Set<string>();
  #socket: WebSocket | undefined;
  #closed = false;

  constructor(service: Service, token?: string, { url } = wellKnown(service)) {
    super();
    this.#url = `${url}${token === undefined ? '' : `?token=${token}`}`;
    this.#headers = token === undefined ? { authorization: `Bearer ${service.apiKey}` } : {};
    this.#connect();
  }

  subscribe(channel: string): void {
    this.#channels.add(channel);
    this.#ask(channel);
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
  }

  #ask(channel: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN)
      this.#socket.send(JSON.stringify({ action: 'subscribe', channel }));
  }

  #connect(): void {
    const socket = new WebSocket(this.#url, { headers: this.#headers });
    this.#socket = socket;
    socket.on('open', () => {
      this.connections += 1;
      for (const channel of this.#channels) this.#ask(channel);
    });
    socket.on('message', (data) => {
      if (!this.#closed) this.take(JSON.parse(data.toString()));
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (!this.#closed) setTimeout(() => this.#connect(), 50);
    });
  }
}

/** The unmodified client of Socket.IO, which subscribes once and leaves reconnecting to its library and to the service. */
export class SocketSubscriber extends RecordingSubscriber {
  readonly socket: Socket;

  constructor(service: Service, token = `Bearer ${service.apiKey}`, { socketIo } = wellKnown(service)) {
    super();
    this.socket = io(socketIo.url, {
      transports: ['websocket'],
      path: socketIo.path,
      auth: { token },
      forceNew: true,
      reconnectionDelay: 50,
      reconnectionDelayMax: 500,
    });
    this.socket.on('connect', () => {
      this.connections += 1;
    });
    this.socket.onAny((event: string, ...args: Record<string, unknown>[]) => {
      const [data] = args;
      if (!data || args.length > 1) throw new Error(`${event} came with ${args.length} arguments.`);
      this.take({ event, data });
    });
  }

  subscribe(channel: string): void {
    this.socket.emit('subscribe', channel);
  }

  close(): void {
    this.socket.disconnect();
  }
}

/** Waits until a client has been notified that it is subscribed to a channel. */
export function untilSubscribed(subscriber: Subscriber, channel: string, options?: WaitOptions): Promise<true> {
  return until(
    `${channel} is subscribed`,
    () => subscriber.messages.some(({ event, data }) => event === 'subscribed' && isOf(channel, data)) || undefined,
    options,
  );
}

/**
 * Subscribes once more to a channel, and waits for the response, which comes after all that was sent before of
 * the same job.
 */
export async function untilAllCame(subscriber: Subscriber, channel: string): Promise<void> {
  const answers = () =>
    subscriber.messages.filter(({ event, data }) => event === 'subscribed' && isOf(channel, data)).length;
  const before = answers();
  subscriber.subscribe(channel);
  await until(`${channel} is subscribed again`, () => answers() > before || undefined);
}

/** Returns whether a client receives this when it subscribes to a channel: its task or job, or a list by its name. */
function isOf(channel: string, data: Record<string, unknown>): boolean {
  return data.channel === channel || channel === `job.${data.id}` || channel === `task.${data.id}`;
}

/** Waits until a client has received an event of a task or job. */
export function untilReceived(
  subscriber: Subscriber,
  event: string,
  id: string,
  options?: WaitOptions,
): Promise<Received> {
  return until(
    `${event} of ${id} is received`,
    () => subscriber.received.find((one) => one.event === event && one.id === id),
    options,
  );
}

/**
 * Drops what a client knows already: what is no newer by its version, and an event that is repeated after a reconnect, when
 * the current state is sent again.
 */
export function withoutRepeats(received: Received[]): Received[] {
  const latest = new Map<string, number>();
  const known = new Set<string>();
  return received.filter(({ event, id, version }) => {
    const isKnown = (latest.get(id) ?? 0) >= version || (event !== 'task_updated' && known.has(`${event} ${id}`));
    latest.set(id, Math.max(version, latest.get(id) ?? 0));
    known.add(`${event} ${id}`);
    return !isKnown;
  });
}
