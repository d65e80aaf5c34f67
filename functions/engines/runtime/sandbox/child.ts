import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { closeInherited } from '../../../../packages/runtime-client/src/close-inherited.ts';
import { type Engine, EngineError, type WorkContext } from '../engine.ts';
import { faultOfFile } from '../file-faults.ts';
import { withFonts } from '../job-fonts.ts';
import { warmPrograms } from '../program.ts';
import { encodeMessage, type FromSandbox, type ToSandbox } from './messages.ts';

// The process that reads the user's files, behind the barriers of the launcher. Its parent ends it with all its programs.
closeInherited();
const module: { engine: Engine } = await import(pathToFileURL(process.argv[2] ?? '').href);

const send = (message: FromSandbox) => process.stdout.write(encodeMessage(message));

/** The time stamp that the work waits for. */
let requested: PromiseWithResolvers<Uint8Array> | undefined;
/** The inputs that the work waits for. */
let arrivals: PromiseWithResolvers<void>[] = [];

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message: ToSandbox = JSON.parse(line);
    if (message.type === 'run') void runAndSettle(message);
    else if (message.type === 'arrived') arrivals[message.index]?.resolve();
    else if ('response' in message) requested?.resolve(Buffer.from(message.response, 'base64'));
    else requested?.reject(new EngineError(message.msg));
  })
  // The parent is gone. The supervisor leads this group, so it ends too.
  .on('close', () => process.kill(0, 'SIGKILL'));
send({ type: 'ready', pid: process.pid });

type Run = Extract<ToSandbox, { type: 'run' }>;

async function runAndSettle(message: Run): Promise<void> {
  await run(message);
  // A failure to settle ends the process, and the next work gets another.
  await module.engine.settle?.();
  send({ type: 'settled' });
}

async function run({ work, canTimestamp, isArriving, canAnnounce }: Run): Promise<void> {
  arrivals = isArriving ? work.inputs.map(() => Promise.withResolvers<void>()) : [];
  try {
    const { awaitsInputs = false } = module.engine;
    if (!awaitsInputs) await Promise.all(arrivals.map(({ promise }) => promise));
    const context: WorkContext = {
      // Work is aborted by killing this process, so the signal is never aborted here.
      signal: new AbortController().signal,
      progress: (percent) => {
        if (Number.isFinite(percent)) send({ type: 'progress', percent: Math.min(100, Math.max(0, percent)) });
      },
      log: (text, details = {}) => send({ type: 'log', message: text, details }),
      limitProcessorTime: (processorSeconds) => send({ type: 'limit', processorSeconds }),
      ...(canTimestamp ? { timestamp } : {}),
      ...(isArriving ? { arrival: async (index) => arrivals[index]?.promise } : {}),
      ...(canAnnounce ? { announce: (path, frontBytes) => send({ type: 'announced', path, frontBytes }) } : {}),
    };
    const result = await withFonts(work, () => module.engine.run(work, context));
    send({ type: 'done', result, warmPrograms: warmPrograms() });
  } catch (error) {
    const end = { warmPrograms: warmPrograms() };
    const refusal = faultOfFile(error, work.folder);
    if (refusal) {
      const { message: msg, detail, needsTime } = refusal;
      send({ ...end, type: 'refused', msg, detail, needsTime });
    } else
      send({ ...end, type: 'broken', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function timestamp(digest: Uint8Array): Promise<Uint8Array> {
  requested = Promise.withResolvers();
  send({ type: 'timestamp', digest: Buffer.from(digest).toString('hex') });
  return requested.promise;
}
