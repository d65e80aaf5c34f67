import { expect, test } from 'vitest';
import { monthOf, smallReservationMs } from '../../shared/tasks/meter.ts';
import { Client, dataUri, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { conversionTasks, convertAtOnce, inMilliseconds, usageOf, usedBy } from '../support/metered-jobs.ts';
import { putAsOperator } from '../support/operator.ts';
import { joinService } from '../support/shared-service.ts';

interface DryRun {
  valid: boolean;
  conversionSeconds: number;
  tasks: {
    name: string;
    conversionSeconds: number;
    basis: string;
    estimate?: { seconds: number; bytes: number };
  }[];
}

test('Usage is shown by day, operation and formats, and a dry run estimates by it', async () => {
  const service = await joinService();
  const { client } = service;
  const tasks = await conversionTasks();
  // The size of a file that is yet to be posted is not known.
  const posted = { ...tasks, import: { operation: 'import/upload' } };
  const estimate = async (of: object) =>
    (await client.call<DryRun>('POST', '/v1/process/jobs?dry_run=true', { tasks: of })).body;
  expect(await estimate(posted)).toMatchObject({ valid: true, tasks: [{ name: 'convert', basis: 'typical' }] });
  const refused = await client.call('POST', '/v1/process/jobs?dry_run=true', {
    tasks: { ...tasks, convert: { ...tasks.convert, output_format: 'mp3', input_format: 'png' } },
  });
  expect(refused.status).toBe(400);
  expect((await client.call<{ totalDocs: number }>('GET', '/v1/process/jobs')).body.totalDocs).toBe(0);

  const jobs = await convertAtOnce(client, 3);
  const [job] = jobs;
  const seconds = usedBy(jobs) / 1000;
  expect(seconds).toBeGreaterThan(0);
  expect(job?.conversionSeconds).toBe(job && taskOf(job, 'convert').result.conversionSeconds);
  expect(job && taskOf(job, 'import').result.conversionSeconds).toBeUndefined();
  expect(await usageOf(client)).toMatchObject({
    conversionSeconds: seconds,
    tasks: 3,
    days: [
      {
        operations: { convert: seconds },
        formats: [{ input_format: 'png', output_format: 'webp', conversionSeconds: seconds, tasks: 3 }],
      },
    ],
    month: { month: monthOf(Date.now()), allowanceMinutes: null, remainingMinutes: null },
  });
  const again = await estimate({ ...posted, convert: { ...tasks.convert, input_format: 'png' } });
  expect(again.tasks).toEqual([
    {
      name: 'convert',
      operation: 'convert',
      conversionSeconds: Math.round((seconds / 3) * 1000) / 1000,
      basis: 'history',
    },
  ]);
});

test('A dry run has the seconds and bytes of known files, by the speed of earlier runs', async () => {
  const { client } = await joinService();
  const tasks = await conversionTasks();
  const [job] = await convertAtOnce(client, 1);
  const made = job && taskOf(job, 'convert').result.files?.[0];
  const convert = { operation: 'convert', input: job && taskOf(job, 'import').id, output_format: 'webp' };

  const { body } = await client.call<DryRun>('POST', '/v1/process/jobs?dry_run=true', {
    tasks: { ...tasks, earlier: convert },
  });

  const [first, earlier] = ['convert', 'earlier'].map((name) => body.tasks.find((task) => task.name === name));
  expect(first).toMatchObject({ basis: 'measured' });
  expect(first?.conversionSeconds).toBe(first?.estimate?.seconds);
  expect(first?.estimate?.seconds).toBeGreaterThan(0);
  // All of these pictures are the same.
  expect(Math.abs((first?.estimate?.bytes ?? 0) - (made?.size ?? 0))).toBeLessThan((made?.size ?? 0) / 10);
  expect(earlier?.estimate).toEqual(first?.estimate);
});

test('Tasks at once never use more than the conversion minutes of the month, and those without any left fail', async () => {
  const service = await joinService();
  const { client, user } = service;
  // Little more than the least that is set aside for a run, so that it is used up on any machine.
  const allowanceMs = smallReservationMs + 200;
  const minutesPerMonth = allowanceMs / 60_000;
  await putAsOperator(service, { pk: `account#${user}`, sk: 'account', minutesPerMonth });

  const jobs = await convertAtOnce(client, 15);
  const converts = jobs.map((job) => taskOf(job, 'convert'));
  const failed = converts.filter(({ status }) => status === 'failed');
  expect(converts.filter(({ status }) => status === 'completed').length + failed.length).toBe(15);
  expect(new Set(failed.map(({ result }) => result.errorCode))).toEqual(new Set(['out_of_conversion_minutes']));
  expect(failed[0]?.result.msg).toMatch(/renewed on \d{4}-\d\d-01/);
  const { conversionSeconds, month } = await usageOf(client);
  expect(inMilliseconds(conversionSeconds)).toBe(usedBy(jobs));
  expect(usedBy(jobs)).toBeLessThanOrEqual(allowanceMs);
  expect(month.allowanceMinutes).toBe(minutesPerMonth);
  // Whatever was reserved was returned.
  expect(Math.round((month.remainingMinutes ?? 0) * 60_000)).toBe(allowanceMs - usedBy(jobs));
});

test('A task that takes longer than its key allows is stopped, and the minutes of a key end before those of its account', async () => {
  const service = await joinService();
  const { client } = service;
  const limited = async (limits: object): Promise<Client> => {
    const { key } = await client.create<{ key: string }>('/v1/account/keys', { name: 'limited', limits });
    return new Client({ url: service.url, apiKey: key });
  };
  const picture = Buffer.from(await twoHalves(5_000, 4_000));
  const file = dataUri(picture, 'image/png');
  const slow = {
    import: { operation: 'import/base64', file, filename: 'photo.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'avif' },
  };
  const brief = await limited({ minutesPerTask: 0.3 / 60 });
  const stopped = taskOf(await brief.waitForJob((await brief.createJob(slow)).id), 'convert');
  expect(stopped).toMatchObject({
    status: 'failed',
    result: {
      errorCode: 'out_of_conversion_minutes_per_task',
      msg: expect.stringContaining('0.01 conversion minutes'),
    },
  });
  const used = stopped.result.conversionSeconds ?? 0;
  expect(used).toBeGreaterThanOrEqual(0.3);
  const instantly = await brief.instant('convert?output_format=avif', picture, { 'content-type': 'image/png' });
  expect(instantly.status).toBe(403);
  expect(await instantly.json()).toMatchObject({ errorCode: 'out_of_conversion_minutes_per_task' });
  expect(inMilliseconds((await usageOf(client)).conversionSeconds - used)).toBeGreaterThanOrEqual(300);

  const poor = await limited({ minutesPerMonth: 1 / 60 });
  const jobs = await convertAtOnce(poor, 12);
  expect(usedBy(jobs)).toBeLessThanOrEqual(1_000);
  expect(new Set(jobs.map((job) => taskOf(job, 'convert').result.errorCode))).toContain('out_of_conversion_minutes');
  const tooPoor = await poor.instant('convert?output_format=avif', picture, { 'content-type': 'image/png' });
  expect(tooPoor.status).toBe(403);
  expect(await tooPoor.json()).toMatchObject({ errorCode: 'out_of_conversion_minutes' });
  const [rich] = await convertAtOnce(client, 1);
  expect(rich?.status).toBe('completed');
  const { days } = await usageOf(client);
  expect(Object.keys(days[0]?.keys ?? {})).toHaveLength(3);
});
