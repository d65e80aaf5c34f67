import { createSocket } from 'node:dgram';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Engine } from '../../functions/engines/runtime/engine.ts';

/** What the engine is told to look for, as `snoop.pl` is. */
interface Look {
  secret: string;
  host: number;
  ports: number[];
  files: string[];
}

/** An engine that looks around in its own process, as code would that a file made a library execute. */
export const engine: Engine = {
  async run({ options }) {
    const { secret, host, ports, files }: Look = JSON.parse(String(options.look));
    const [tcp = 0, udp = 0] = ports;
    const holds = (path: string) => succeeds(() => readFileSync(path, 'latin1').includes(secret));
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const found = {
      ran: true,
      'own environment': Object.values(process.env).some((value) => value?.includes(secret)),
      'environment of a process': processes.some((pid) => holds(`/proc/${pid}/environ`)),
      'sees the host': processes.includes(String(host)),
      'opens the memory of the host': succeeds(() => closeSync(openSync(`/proc/${host}/mem`, 'r'))),
      'signals the host': succeeds(() => process.kill(host, 0)),
      'a TCP server': await connects(tcp),
      'a UDP server': await sends(udp),
      ...Object.fromEntries(files.map((file, index) => [`file ${index}`, holds(file)])),
    };
    const names = Object.entries(found).flatMap(([name, reached]) => (reached ? `${name}\n` : []));
    writeFileSync(`${process.env.TMPDIR}/found`, names.join(''));
    throw new Error('There is nothing more to find.');
  },
};

function succeeds(attempt: () => unknown): boolean {
  try {
    return attempt() !== false;
  } catch {
    return false;
  }
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
}

function sends(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').once('error', () => resolve(false));
    socket.send('found', port, '127.0.0.1', (error) => resolve(!error));
  });
}
