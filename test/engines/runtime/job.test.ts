import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailboxVariable } from '../../../functions/engines/runtime/job/mailbox.ts';
import { projectRoot } from '../../../infra/bundling.ts';
import { until } from '../../support/until.ts';

/** Stands for the bucket: the mailbox, and the form that the job posts to. */
let bucket: Server;
let origin: string;
let outputFormat: string | undefined;
let posts: string[];
let failures: number;
let job: ChildProcess | undefined;

beforeEach(async () => {
  [outputFormat, posts, failures] = ['webm', [], 0];
  bucket = createServer(async (req, res) => {
    if (req.method === 'GET') {
      const output = { url: `${origin}/form`, fields: { policy: 'signed' }, prefix: 'run/posted/' };
      if (outputFormat === undefined) {
        // Its worker writes it now.
        outputFormat = 'webm';
        res.writeHead(403).end();
      } else res.end(JSON.stringify({ request: { outputFormat, inputs: [], output }, url: `${origin}/mailbox` }));
      return;
    }
    const form = await text(req);
    if (failures > 0) {
      failures -= 1;
      res.writeHead(403).end();
      return;
    }
    posts.push(form);
    res.writeHead(204, { etag: '"0"' }).end();
  });
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = bucket.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  origin = `http://127.0.0.1:${address.port}`;
});

afterEach(async () => {
  job?.kill('SIGKILL');
  bucket.closeAllConnections();
  await new Promise((resolve) => bucket.close(resolve));
});

function startJob(): ChildProcess {
  job = spawn(process.execPath, [join(projectRoot, 'functions/engines/runtime/job/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      LAMBDA_TASK_ROOT: join(projectRoot, 'test/engines/fixtures'),
      _HANDLER: 'job-handler.handler',
      [mailboxVariable]: `${origin}/mailbox`,
    },
  });
  return job;
}

/** Returns the lines of the stored response. */
function linesOf(form: string | undefined): unknown[] {
  const [, body = ''] = /filename="file"\r\n\r\n(.*)\r\n--/s.exec(form ?? '') ?? [];
  return body.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
}

test('A job waits for its mailbox, and stores a response without outdated progress before it exits', async () => {
  outputFormat = undefined;
  expect(await once(startJob(), 'exit')).toEqual([0, null]);
  expect(posts).toHaveLength(1);
  expect(posts[0]).toContain('name="key"\r\n\r\nrun/posted/response\r\n');
  const [isolation, ...rest] = linesOf(posts[0]);
  expect(isolation).toEqual({ type: 'isolation', barriers: {} });
  expect(rest).toEqual([{ type: 'done', outputs: [], engineMs: 1 }]);
});

test('Its response is stored with a new form if the previous one has expired', async () => {
  failures = 1;
  expect(await once(startJob(), 'exit')).toEqual([0, null]);
  expect(linesOf(posts.at(-1)).at(-1)).toMatchObject({ type: 'done' });
});

test('It stores its latest progress, and ends at once by SIGTERM', async () => {
  outputFormat = 'endless';
  const started = startJob();
  await until('progress is stored', async () => posts.length > 0);
  expect(linesOf(posts[0]).at(-1)).toEqual({ type: 'progress', percent: 99.9 });
  started.kill('SIGTERM');
  expect(await once(started, 'exit')).toEqual([143, null]);
});
