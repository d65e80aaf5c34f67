import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { keepOffline, runProgram } from '../../../functions/engines/runtime/program.ts';

/** Prints whether a child of the program gets sockets for the internet and for this machine. */
const script = `
import os, socket
os.fork()
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_UNIX):
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_NETLINK else socket.SOCK_STREAM)
        print(family.name, 'open')
    except OSError as error:
        print(family.name, error.errno)
`;

async function socketsOf(options: { network?: boolean } = {}): Promise<Set<string>> {
  const { stdout } = await runProgram('python3', ['-c', script], { cwd: tmpdir(), ...options });
  return new Set(stdout.trim().split('\n'));
}

test('an engine that keeps its programs offline leaves them local sockets only, unless one needs the network', async () => {
  const all = ['AF_INET open', 'AF_INET6 open', 'AF_NETLINK open', 'AF_UNIX open'];
  expect(await socketsOf()).toEqual(new Set(all));
  keepOffline();
  expect(await socketsOf()).toEqual(new Set(['AF_INET 97', 'AF_INET6 97', 'AF_NETLINK 97', 'AF_UNIX open']));
  expect(await socketsOf({ network: true })).toEqual(new Set(all));
});

test('a program that is missing is reported as such', async () => {
  await expect(runProgram('no-such-program', [], { cwd: tmpdir() })).rejects.toThrow(/no-such-program/);
});
