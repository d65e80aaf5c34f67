import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { type Patience, until } from '../support/until.ts';

/** An event as a client heard it. */
export interface Heard {
  event: string;
  id: string;
  version: number;
  status: string;
  /** Which of the client's connections it came by, from 0. */
  connection: number;
  at: number;
}

export interface Follower {
  readonly heard: Heard[];
  /** Everything that came, the answers to subscriptions and errors included. */
  readonly messages: { event: string; channel?: string; data: Record<string, unknown> }[];
  readonly connections: number;
  follow(channel: string): void;
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

abstract class Listening implements Follower {
  readonly heard: Heard[] = [];
  readonly messages: Follower['messages'] = [];
  connections = 0;

  protected take(message: Follower['messages'][number]): void {
    this.messages.push(message);
    const { event, data } = message;
    if (!/^(?:job|task)_/.test(event)) return;
    this.heard.push({
      event,
      id: String(data.id),
      version: Number(data.version),
      status: String(data.status),
      connection: this.connections - 1,
      at: performance.now(),
    });
  }

  abstract follow(channel: string): void;
  abstract close(): void;
}

/** A client on plain WebSockets that comes back after a cut and asks for its channels again. */
export class PlainFollower extends Listening {
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

  follow(channel: string): void {
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

/** The unmodified client of Socket.IO, which subscribes once and leaves coming back to its library and to the service. */
export class SocketFollower extends Listening {
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

  follow(channel: string): void {
    this.socket.emit('subscribe', channel);
  }

  close(): void {
    this.socket.disconnect();
  }
}

/** Waits until a client has been told that it follows a channel. */
export function untilFollowing(follower: Follower, channel: string, patience?: Patience): Promise<true> {
  return until(
    `${channel} is followed`,
    () => follower.messages.some(({ event, data }) => event === 'subscribed' && isOf(channel, data)) || undefined,
    patience,
  );
}

/**
 * Asks once more for a channel that is followed, and waits for the answer, which comes after all that was sent before of
 * the same job.
 */
export async function untilAllCame(follower: Follower, channel: string): Promise<void> {
  const answers = () =>
    follower.messages.filter(({ event, data }) => event === 'subscribed' && isOf(channel, data)).length;
  const before = answers();
  follower.follow(channel);
  await until(`${channel} is followed anew`, () => answers() > before || undefined);
}

/** Tells whether a client is shown this when it begins to follow a channel: its task or job, or a list by its name. */
function isOf(channel: string, data: Record<string, unknown>): boolean {
  return data.channel === channel || channel === `job.${data.id}` || channel === `task.${data.id}`;
}

/** Waits until a client has heard an event of a task or job. */
export function untilHeard(follower: Follower, event: string, id: string, patience?: Patience): Promise<Heard> {
  return until(
    `${event} of ${id} is heard`,
    () => follower.heard.find((one) => one.event === event && one.id === id),
    patience,
  );
}

/**
 * Drops what a client knows already: what is no newer by its version, and an event that comes again after a cut, when
 * the present state is shown anew.
 */
export function withoutRepeats(heard: Heard[]): Heard[] {
  const latest = new Map<string, number>();
  const known = new Set<string>();
  return heard.filter(({ event, id, version }) => {
    const isKnown = (latest.get(id) ?? 0) >= version || (event !== 'task_updated' && known.has(`${event} ${id}`));
    latest.set(id, Math.max(version, latest.get(id) ?? 0));
    known.add(`${event} ${id}`);
    return !isKnown;
  });
}
