import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointSchemas } from '../../functions/api/creation/schemas.ts';
import type { JobView, TaskDefinition, TaskView } from '../support/client.ts';
import {
  denialsOf,
  exports,
  fileOf,
  imports,
  pauseConsumers,
  processings,
  requiredRoles,
  roleOf,
  takeAway,
  withPassword,
  workers,
} from '../support/roles.ts';
import { startAlteredStack } from '../support/running-stack.ts';

let service: Awaited<ReturnType<typeof startAlteredStack>>;

beforeAll(async () => {
  service = await startAlteredStack(
    (stack) => {
      pauseConsumers(stack, workers);
      // What follows from a cancellation stops before the job, as it does when the table throttles.
      takeAway(roleOf(stack, 'HttpCancelTask'), 'dynamodb:GetItem', 'following#*');
    },
    { LATHE_ALLOW_HOSTS: '127.0.0.1' },
  );
  // Somebody listens, so that whatever happens to a task is published.
  await service.client.create('/v1/account/webhooks', { url: 'http://127.0.0.1:9/' });
});
afterAll(() => service[Symbol.asyncDispose]());

const denials = () => denialsOf(service, /HttpCancelTask/);

/** Returns a task that was canceled while its job has not failed yet. */
async function canceledInput(): Promise<TaskView> {
  const job = await service.client.createJob({ upload: { operation: 'import/upload' } });
  const [upload] = job.tasks;
  if (!upload) throw new Error('The job has no task.');
  const { status } = await service.client.call('POST', `/v1/process/tasks/${upload.id}/cancel`);
  expect(status).toBe(200);
  expect((await service.client.showJob(job.id)).status).toBe('processing');
  return upload;
}

const samples = [...imports, ...withPassword(''), ...exports('')];

test('the samples are of all operations', () => {
  expect(samples.map(({ operation }) => operation).sort()).toEqual(Object.keys(endpointSchemas).sort());
});

describe('a task of every operation', () => {
  test.for(samples.map((sample) => [sample.operation, sample] as const))(
    '(%s) is created once for an Idempotency-Key',
    async ([operation, { operation: _operation, ...parameters }]) => {
      // Of no known format yet, so that no option is refused before it is known.
      const upload = await service.client.createTask('import/upload');
      const inputs = Array.isArray(parameters.input) ? { input: parameters.input.map(() => upload.id) } : {};
      const body = { ...parameters, ...inputs, ...requiredRoles(operation, upload.id) };
      const headers = { 'idempotency-key': randomUUID() };
      const first = await service.client.call<TaskView>('POST', `/v1/process/${operation}`, body, headers);
      const second = await service.client.call<TaskView>('POST', `/v1/process/${operation}`, body, headers);
      expect(first.status, JSON.stringify(first.body)).toBe(201);
      expect(second.body.id).toBe(first.body.id);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(denials()).toEqual([]);
    },
  );

  test.for(processings().map((each) => [each.operation, each.engine, each] as const))(
    '(%s) is queued for the engine %s where its input has completed',
    async ([operation, , { from, to }]) => {
      const input = await service.client.createTask('import/base64', fileOf(from));
      const task = await service.client.createTask(operation, {
        input: operation === 'merge' ? [input.id, input.id] : [input.id],
        ...requiredRoles(operation, input.id),
        output_format: to,
      });
      expect(task.status).toBe('created');
      expect(denials()).toEqual([]);
    },
  );

  test.for(exports('').map(({ operation }) => operation))(
    '(%s) is queued for transfer where its input has completed',
    async (operation) => {
      const input = await service.client.createTask('import/base64', fileOf('png'));
      const { operation: _operation, ...parameters } =
        exports(input.id).find((each) => each.operation === operation) ?? {};
      expect((await service.client.createTask(operation, parameters)).status).toBe('created');
      expect(denials()).toEqual([]);
    },
  );
});

describe('a task whose input was canceled', () => {
  const dependent = [...withPassword(''), ...exports('')].map(({ operation }) => operation);

  test.for(dependent)('fails at once, while the job of its input is left to the sweep (%s)', async (operation) => {
    const { id } = await canceledInput();
    const sample = [...withPassword(id), ...exports(id)].find((each) => each.operation === operation);
    const { operation: _operation, ...parameters } = sample ?? {};
    const task = await service.client.createTask(operation, parameters);
    expect(await service.client.showTask(task.id)).toMatchObject({
      status: 'failed',
      result: { errorCode: 'processing_failed', msg: expect.stringContaining(id) },
    });
    expect(denials()).toEqual([]);
  });

  test('fails with the job that it belongs to', async () => {
    const { id } = await canceledInput();
    const definitions = Object.fromEntries(
      [...withPassword(id), ...exports(id)].map((each, index) => [`t${index}`, each]),
    );
    const job = await service.client.createJob(definitions);
    expect(await service.client.showJob(job.id)).toMatchObject({
      status: 'failed',
      result: { errorCode: 'task_failed' },
    });
    expect(denials()).toEqual([]);
  });
});

describe('an instant request', () => {
  const instantly = (operation: string, body: object, headers: Record<string, string> = {}) =>
    service.client.instant(operation, JSON.stringify(body), { 'content-type': 'application/json', ...headers });

  test.for(processings().map((each) => [each.operation, each.engine, each] as const))(
    '(%s) becomes a job that is queued for the engine %s',
    async ([operation, , { from, to }]) => {
      const { id } = await service.client.createTask('import/base64', fileOf(from));
      const input = operation === 'merge' ? [id, id] : [id];
      const body = { input, ...requiredRoles(operation, id), output_format: to };
      const response = await instantly(operation, body, { prefer: 'respond-async' });
      expect(response.status, await response.clone().text()).toBe(202);
      expect(denials()).toEqual([]);
    },
  );

  test('for a URL becomes a job whose import is queued', async () => {
    const body = { url: 'http://203.0.113.1/a.png', output_format: 'webp' };
    const response = await instantly('convert', body, { prefer: 'respond-async' });
    expect(response.status).toBe(202);
    expect(denials()).toEqual([]);
  });

  test.for([...new Map(processings().map((each) => [each.engine, each])).values()])(
    'invokes the engine $engine, which refuses what is no file of its formats',
    async ({ operation, from, to }) => {
      const { id } = await service.client.createTask('import/base64', fileOf(from));
      const input = operation === 'merge' ? [id, id] : [id];
      const response = await instantly(operation, { input, ...requiredRoles(operation, id), output_format: to });
      expect([200, 422]).toContain(response.status);
      expect(denials()).toEqual([]);
    },
  );

  test('whose input was canceled fails as a job, and keeps no password', async () => {
    const { id } = await canceledInput();
    const body = { input: id, input_format: 'docx', output_format: 'pdf', options: { password: 'secret' } };
    const response = await instantly('convert', body, { prefer: 'respond-async' });
    const job = (await response.json()) as JobView;
    expect(response.status, JSON.stringify(job)).toBe(202);
    expect(await service.client.showJob(job.id)).toMatchObject({
      status: 'failed',
      result: { errorCode: 'task_failed' },
    });
    expect(denials()).toEqual([]);
  });
});

test('a job queues tasks of every engine at once whose inputs have completed', async () => {
  const tasks: Record<string, TaskDefinition> = {
    webpage: { operation: 'import/webpage', url: 'http://203.0.113.1/' },
  };
  for (const { operation, engine, from, to } of processings().filter((each) => each.operation === 'convert')) {
    const input = await service.client.createTask('import/base64', fileOf(from));
    tasks[engine] = { operation, input: input.id, output_format: to };
    tasks[`export-${engine}`] = { operation: 'export/url', input: input.id };
  }
  const job: JobView = await service.client.createJob(tasks);
  expect(job.tasks.map(({ status }) => status)).toEqual(Object.keys(tasks).map(() => 'created'));
  expect(denials()).toEqual([]);
});
