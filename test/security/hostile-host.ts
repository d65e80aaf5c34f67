import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { EngineRequest, PartRequest } from '../../functions/engines/runtime/protocol.ts';

/** A task for this process, which simulates the function of an engine. */
export interface HostTask {
  act: string;
  tenant: string;
  /** The URLs of the input and the form. */
  input: string;
  /** The content of the input, if it comes with the request and the outputs are returned in the response. */
  content?: string;
  /** The part of a split run, if it is one. */
  part?: PartRequest;
  store: string;
  prefix: string;
  seconds: number;
}

export interface HostOutcome {
  act: string;
  ms: number;
  responses: { type: string; msg?: string; message?: string; outputs?: { content?: string }[] }[];
}

const { tasks, victim }: { tasks: HostTask[]; victim: string } = JSON.parse(process.argv[2] ?? '');
// As defined by the runtime: the handler is called directly here.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });
const { engineHandler } = await import('../../functions/engines/runtime/engine-handler.ts');
const handler = engineHandler(new URL('fixtures/hostile-engine.ts', import.meta.url)) as unknown as (
  request: EngineRequest,
  stream: PassThrough,
  context: { tenantId: string },
) => Promise<void>;

for (const [index, task] of tasks.entries()) {
  const stream = new PassThrough();
  const lines = text(stream);
  const began = performance.now();
  await handler(
    {
      taskId: String(index),
      attempt: 1,
      tenant: task.tenant,
      operation: 'convert',
      inputs: [
        {
          ...(task.content === undefined
            ? { url: task.input }
            : { content: Buffer.from(task.content).toString('base64') }),
          ...{ name: 'a.png', format: 'png', size: 5 },
        },
      ],
      ...(task.content === undefined ? {} : { inlineBytes: 4_400_000, archive: 'all.zip' }),
      ...(task.part ? { part: task.part } : {}),
      outputFormat: 'png',
      options: { act: task.act, victim },
      output: { url: task.store, fields: {}, prefix: task.prefix },
      maxOutputBytes: 100_000_000,
      revoked: `${task.store}/revoked`,
      deadline: Date.now() + task.seconds * 1000,
    },
    stream,
    { tenantId: task.tenant },
  );
  const responses = (await lines)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type !== 'isolation');
  const outcome: HostOutcome = { act: task.act, ms: Math.round(performance.now() - began), responses };
  process.stdout.write(`outcome ${JSON.stringify(outcome)}\n`);
}
process.exit();
