import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@aws-lambda-powertools/logger';
import { closeInherited } from '../../../../packages/runtime-client/src/close-inherited.ts';
import { defineStreamifyResponse, loadHandler } from '../../../../packages/runtime-client/src/handler.ts';
import { required } from '../../../../shared/settings.ts';
import { postFile } from '../remote-files.ts';
import { type Mailbox, mailboxVariable, responseName } from './mailbox.ts';

/**
 * The entry point of an image as a job on AWS Batch: performs the request in its mailbox with the handler of the image, stores
 * the response in the bucket, and exits. It has no permissions and no connection to the worker.
 */

/** How long a job waits for its mailbox. Nobody wrote one if its worker died before the job counted. */
const maxWaitMs = 300_000;
const waitMs = 1_000;
/** The worker renews the URLs every 20 seconds. They are valid for hours. */
const renewMs = 60_000;
/** How often progress is stored. */
const storeMs = 3_000;

const logger = new Logger({ serviceName: 'lathe' });
process.on('SIGTERM', () => process.exit(128 + 15));
closeInherited();
defineStreamifyResponse();
const handler = await loadHandler(required('LAMBDA_TASK_ROOT'), required('_HANDLER'));
if (handler.mode !== 'streaming') throw new Error('Expected a handler that streams its response.');
const mailbox = await firstMailbox(required(mailboxVariable));
const { request } = mailbox;
const renewal = setInterval(() => void renew(), renewMs);
const response = responseStream();
await handler.call(request, response, {});
clearInterval(renewal);
process.exit(0);

/** Reads a mailbox; undefined if there is none, which S3 also reports as forbidden: the URL allows no list. */
async function readMailbox(url: string): Promise<Mailbox | undefined> {
  const read = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  if (read.ok) return Object(await read.json());
  if (read.status === 403 || read.status === 404) return undefined;
  throw new Error(`S3 responded with status ${read.status} for the mailbox.`);
}

async function firstMailbox(url: string): Promise<Mailbox> {
  for (const until = Date.now() + maxWaitMs; Date.now() < until; await pause(waitMs)) {
    const found = await readMailbox(url).catch((error: Error) =>
      logger.warn('the mailbox could not be read', { error }),
    );
    if (found) return found;
  }
  throw new Error('The job has no mailbox.');
}

/** Replaces the URLs of the request. Without a renewal the old ones are still valid for hours. */
async function renew(): Promise<void> {
  try {
    const next = await readMailbox(mailbox.url);
    if (!next) throw new Error('The job has no mailbox any more, or its URL has expired.');
    mailbox.url = next.url;
    Object.assign(request, { inputs: next.request.inputs, output: next.request.output, revoked: next.request.revoked });
  } catch (error) {
    logger.warn('the mailbox could not be renewed', { error: error instanceof Error ? error : String(error) });
  }
}

/** Returns a stream that stores the lines written to it: all but outdated progress, every few seconds and at the end. */
function responseStream(): Writable {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<unknown> = Promise.resolve();
  const store = () => {
    clearTimeout(timer);
    timer = undefined;
    const body = Buffer.from(lines.join(''));
    const content = {
      size: body.length,
      isUnchanged: () => true,
      chunks: async function* () {
        yield body;
      },
    };
    const { output } = request;
    const posted = () => postFile(content, `${output.prefix}${responseName}`, output, AbortSignal.timeout(60_000));
    storing = storing.then(posted);
    return storing;
  };
  return new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      const isProgress = (text: string) => JSON.parse(text).type === 'progress';
      lines = [...lines.filter((text) => !isProgress(text)), String(line)];
      timer ??= setTimeout(() => {
        // The next one has the same lines and more.
        store().catch((error: Error) => {
          storing = Promise.resolve();
          logger.warn('the response could not be stored', { error });
        });
      }, storeMs);
      done();
    },
    final(done) {
      const again = (error: Error) => {
        logger.warn('the response is stored again with a new form', { error });
        storing = Promise.resolve();
        return renew().then(store);
      };
      store()
        .catch(again)
        .then(() => done(), done);
    },
  });
}
