import type { LocalTable } from '../template/model.ts';
import { callJson, relay, send } from '../wire/connection.ts';
import { provisionTables, type Tables } from './tables.ts';

const region = 'us-east-1';

/** Uses another DynamoDB instead of the embedded one, and creates the template's tables there. */
export async function reachTables(tables: LocalTable[], origin: string): Promise<Tables> {
  const call: Tables['call'] = (operation, input) =>
    callJson(origin, { version: '1.0', target: 'DynamoDB_20120810', operation, input, region });
  await provisionTables(tables, call);
  return {
    async handle({ headers }, res, body) {
      const { 'content-type': type, 'x-amz-target': target, 'x-amz-date': date, authorization } = headers;
      const forwarded = { 'content-type': type, 'x-amz-target': target, 'x-amz-date': date, authorization };
      await relay(await send(origin, { method: 'POST', path: '/', headers: forwarded, body }), res);
    },
    call,
    async close() {},
  };
}
