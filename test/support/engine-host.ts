import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { EngineRequest } from '../../functions/engines/runtime/protocol.ts';

// A process that is the function of an engine: it performs the request in its standard input, and writes the response to its output.
// As defined by the runtime: the handler is called directly here.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });
const { engineHandler } = await import('../../functions/engines/runtime/engine-handler.ts');
const handler = engineHandler(new URL(process.argv[2] ?? '')) as unknown as (
  request: EngineRequest,
  stream: PassThrough,
  context: object,
) => Promise<void>;
const request = (await json(process.stdin)) as EngineRequest;
const stream = new PassThrough();
const written = pipeline(stream, process.stdout, { end: false });
await handler(request, stream, {});
await written;
process.exit();
