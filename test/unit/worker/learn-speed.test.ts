import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, expect, test, vi } from 'vitest';
import type { RunPlan } from '../../../functions/invocation/plan-run.ts';
import { learnSpeed } from '../../../functions/worker/learn-speed.ts';
import { makeRun } from '../../transfers/run.ts';

const file = { key: 'k', name: 'a.png', size: 2_000_000, format: 'png', mediaType: 'image/png', token: 't' };
const items = new Map<string, Record<string, unknown>>();
let reads: number;
let lines: string[];

beforeEach(() => {
  vi.stubEnv('LATHE_TABLE', 'records');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  items.clear();
  [reads, lines] = [0, []];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(async (command) => {
    if (command instanceof PutItemCommand) {
      const item = unmarshall(command.input.Item ?? {});
      items.set(`${item.pk} ${item.sk}`, {
        ...item,
        writes: Number(items.get(`${item.pk} ${item.sk}`)?.writes ?? 0) + 1,
      });
      return {};
    }
    if (!(command instanceof GetItemCommand)) throw new Error('Items are only read and put.');
    reads += 1;
    const key = unmarshall(command.input.Key ?? {});
    const item = items.get(`${key.pk} ${key.sk}`);
    return item ? { Item: marshall(item) } : {};
  });
});

/** Learns from a run that made a file of half the size of its input. Each test has a format of its own, because runs are counted. */
async function learn(to: string, ms: number, options = {}, details = {}): Promise<void> {
  const run = makeRun('convert', { output_format: to, options });
  run.engine = { ms };
  const plan: RunPlan = { operation: 'convert', files: [file], outputFormat: to, options: {}, maxOutputBytes: 1e9 };
  await learnSpeed('image', run, plan, { files: [{ ...file, size: 1_000_000 }], details });
}

const stored = (to: string) => items.get(`engine#image speed#convert#png>${to}`);
const errorsOf = () => lines.flatMap((line) => JSON.parse(line).EstimateError ?? []);

test('One short run in twenty is added to the speeds of its conversion', async () => {
  for (let count = 0; count < 40; count++) await learn('webp', 500);

  expect([reads, stored('webp')?.writes]).toEqual([2, 2]);
  const speeds = JSON.parse(String(stored('webp')?.speeds));
  expect(speeds).toEqual({ '': { seconds: 0.5, inputBytes: 2_000_000, bytes: 1_000_000, runs: 2 } });
});

test('Each long run is added, by its class of options', async () => {
  for (let count = 0; count < 5; count++) await learn('avif', 20_000, { lossless: true });

  expect(stored('avif')?.writes).toBe(5);
  const speeds = JSON.parse(String(stored('avif')?.speeds));
  expect(speeds[''].runs).toBe(5);
  expect(Object.keys(speeds)).toEqual(['', 'lossless=true']);
});

test('A run that is added is compared with what was predicted, unless a survey estimated it', async () => {
  await learn('jxl', 20_000);
  expect(errorsOf()).toEqual([]);
  await learn('jxl', 30_000);
  expect(errorsOf()).toEqual([50]);
  await learn('jxl', 30_000, {}, { estimate: { conversionSeconds: 30 } });
  expect(errorsOf()).toEqual([50]);
});
