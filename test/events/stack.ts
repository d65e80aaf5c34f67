import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { type LocalStackOptions, startLocalStack } from '../../infra/local/stack.ts';
import { Client } from '../support/client.ts';
import { settingsOfTests } from '../support/running-stack.ts';

/** Runs the stack in this process, where a test can cut its sockets and kill its functions. */
export async function startStack(
  settings: Record<string, string> = {},
  options: Partial<
    Pick<
      LocalStackOptions,
      'template' | 'alter' | 'socketsPort' | 'socketLimits' | 'deliverTwice' | 'alarmSpeed' | 'faults'
    >
  > = {},
) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  const reports: string[] = [];
  const running = await startLocalStack({
    template: await currentTemplate(),
    dataDirectory,
    port: 0,
    missing: { engines: {} },
    environment: { ...settingsOfTests, ...settings },
    report: (line) => reports.push(line),
    ...options,
  });
  return {
    ...running,
    client: new Client(running),
    reports,
    dataDirectory,
    async [Symbol.asyncDispose]() {
      await running.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

export type TestStack = Awaited<ReturnType<typeof startStack>>;
