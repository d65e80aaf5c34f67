import { readdir, readFile, readlink } from 'node:fs/promises';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { type Case, cases } from '../../infra/smoke/cases.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { dataUri } from '../support/client.ts';
import { descendantsOf, type ProcessView } from '../support/processes.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { skipBecause } from '../support/skip.ts';

const reason = process.platform === 'linux' ? undefined : 'Descriptors are inherited unasked on Linux only.';

/** What processes of the service may have open that does not close when they start another, by their command. */
const kinds = [
  { name: 'reaper', command: /reaper\.pl/, may: [] },
  { name: 'function', command: /runtime-client\/src\/main\.ts/, may: [] },
  // It passes the channel of messages on to the engine's process.
  { name: 'supervisor', command: /sandbox\/launch\.pl/, may: [/^3 socket:/] },
  { name: 'engine', command: /sandbox\/child\.ts/, may: [] },
  // It opens files of its own, wherever the system keeps its programs; of the service's data it has none.
  { name: 'program', command: /./, may: [/^(?!.*\/(?:dynamodb|s3|sqs)\/)/] },
];

interface Health {
  engines: { name: string; usable: boolean }[];
}

let service: JoinedService;

beforeAll(async () => {
  service = await joinService();
});

describe('no process of the service has a descriptor that it was not meant to have', skipBecause(reason), () => {
  const ofEngines = cases.filter(({ engine }, index) => index === cases.findIndex((each) => each.engine === engine));
  // One that works in its own process, and one whose programs stay.
  const isUsual = ({ engine }: Case) => engine === 'image' || engine === 'document';
  it.for(ofEngines.filter(isUsual))('after work of the engine $engine', check);
  it.for(ofEngines.filter((each) => !isUsual(each)))('after work of the engine $engine', onlyInBreadth, check);

  async function check({ engine, files: [file], steps }: Case, { skip }: TestContext): Promise<void> {
    const { engines } = (await service.client.call<Health>('GET', '/health')).body;
    skip(
      !engines.some(({ name, usable }) => name === engine && usable),
      'the programs of the engine are not installed',
    );
    const tasks = steps.map(({ operation, to }, index) => {
      const input = index === 0 ? 'file' : `step-${index - 1}`;
      return [`step-${index}`, { operation, input, output_format: to }];
    });
    const content = dataUri((await file?.content()) ?? Buffer.alloc(0));
    await service.client.runJob({
      file: { operation: 'import/base64', filename: file?.name, file: content },
      ...Object.fromEntries(tasks),
    });

    const processes = await descendantsOf(service.pid);
    expect(processes).toContainEqual(
      expect.objectContaining({ command: expect.stringMatching(`child\\.ts.*engines/${engine}/`) }),
    );
    // A function has them for its first milliseconds, in which it starts nothing.
    await expect.poll(() => unexpectedIn(service.pid), { timeout: 5_000 }).toEqual([]);
  }
});

async function unexpectedIn(parent: number): Promise<string[]> {
  return (await Promise.all((await descendantsOf(parent)).map(unexpectedOf))).flat();
}

async function unexpectedOf({ pid, command }: ProcessView): Promise<string[]> {
  const kind = kinds.find((each) => each.command.test(command));
  const open = await inheritable(pid);
  return open
    .filter((descriptor) => !kind?.may.some((pattern) => pattern.test(descriptor)))
    .map((descriptor) => `${kind?.name}: ${descriptor}`);
}

/** Lists the descriptors of a process, above those of its input and output, that programs it starts have as well. */
async function inheritable(pid: number): Promise<string[]> {
  try {
    const numbers = (await readdir(`/proc/${pid}/fd`)).filter((name) => Number(name) > 2);
    const found = await Promise.all(
      numbers.map(async (number) => {
        const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(await readFile(`/proc/${pid}/fdinfo/${number}`, 'utf8')) ?? [];
        const closesOnExec = (Number.parseInt(flags, 8) & 0o2000000) !== 0;
        return closesOnExec ? [] : [`${number} ${await readlink(`/proc/${pid}/fd/${number}`)}`];
      }),
    );
    return found.flat();
  } catch {
    // The process, or what it had open, is gone.
    return [];
  }
}
