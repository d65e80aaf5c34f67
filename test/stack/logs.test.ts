import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startReceiver } from '../events/receiver.ts';
import { startStack } from '../events/stack.ts';
import { dataUri, type JobView, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { until } from '../support/until.ts';

type Line = Record<string, unknown>;

async function linesOf(dataDirectory: string): Promise<Map<string, Line[]>> {
  const folder = join(dataDirectory, 'logs');
  const files = await readdir(folder);
  return new Map(
    await Promise.all(
      files.map(async (file): Promise<[string, Line[]]> => {
        const lines = (await readFile(join(folder, file), 'utf8')).split('\n').filter((line) => line.startsWith('{'));
        return [file.replace(/Function[0-9A-F]{8}\.log$/, ''), lines.map((line) => JSON.parse(line))];
      }),
    ),
  );
}

test('a job is found by its ids in the log of each hop, from its request to its webhook', async () => {
  await using receiver = await startReceiver((res) => res.writeHead(204).end());
  await using stack = await startStack({ LATHE_ALLOW_HOSTS: receiver.host });
  const created = await stack.client.create<JobView>('/v1/process/jobs', {
    tasks: {
      import: { operation: 'import/base64', file: dataUri(await twoHalves(64, 64)), filename: 'halves.png' },
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
      // One with a worker, and one without.
      export: { operation: 'export/url', input: 'convert', archive_multiple_files: true },
      copy: { operation: 'export/url', input: 'convert' },
    },
    webhook_url: receiver.url,
  });
  const job = await stack.client.waitForJob(created.id);
  expect(job.status).toBe('completed');
  await until('the end is delivered', () =>
    receiver.calls.find(({ body }) => JSON.parse(body).type === 'job.completed'),
  );

  const convert = { jobId: job.id, taskId: taskOf(job, 'convert').id, attempt: 1 };
  const hops: [hop: RegExp, line: Line][] = [
    [/^HttpCreateJob$/, { jobId: job.id, requestId: expect.any(String) }],
    [/^Engineimage\w*Worker/, { ...convert, engine: 'image', outcome: 'completed', QueueSeconds: expect.any(Number) }],
    [/^Engineimage\w*Engine/, convert],
    [/^Enginetransfer\w*Worker/, { jobId: job.id, taskId: taskOf(job, 'export').id, outcome: 'completed' }],
    [/^Engineimage\w*Worker/, { jobId: job.id, taskId: taskOf(job, 'copy').id, files: 1 }],
    [/^EventsRelay/, { jobId: job.id, status: 'completed' }],
    [/^EventsDeliver/, { jobId: job.id, status: 204 }],
  ];
  for (const [hop, line] of hops)
    await until(
      `${hop} has written ${JSON.stringify(line)}`,
      async () => {
        const logs = [...(await linesOf(stack.dataDirectory))].filter(([name]) => hop.test(name));
        const lines = logs.flatMap(([, found]) => found);
        return lines.some((found) => matches(found, line));
      },
      { seconds: 20 },
    );

  const [creation] =
    (await linesOf(stack.dataDirectory)).get('HttpCreateJob')?.filter(({ jobId }) => jobId === job.id) ?? [];
  const request = (await linesOf(stack.dataDirectory))
    .get('HttpCreateJob')
    ?.find(({ message }) => message === 'request');
  expect(request).toMatchObject({ requestId: creation?.requestId, status: 201 });
});

function matches(found: Line, wanted: Line): boolean {
  try {
    expect(found).toMatchObject(wanted);
    return true;
  } catch {
    return false;
  }
}
