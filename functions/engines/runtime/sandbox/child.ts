import { pathToFileURL } from 'node:url';
import { type Engine, EngineError, type Work } from '../engine.ts';
import type { FromSandbox, ToSandbox } from './messages.ts';

// The process that touches the user's bytes: no credentials in its environment, killed as a group by its parent.
const module: { engine: Engine } = await import(pathToFileURL(process.argv[2] ?? '').href);

const send = (message: FromSandbox) => process.send?.(message);

process.on('message', (message: ToSandbox) => void run(message.work));
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
send({ type: 'ready' });

async function run(work: Work): Promise<void> {
  try {
    const result = await module.engine.run(work, {
      // Work is aborted by killing this process, so the signal is never aborted here.
      signal: new AbortController().signal,
      progress: (percent) => send({ type: 'progress', percent }),
      log: (text, details = {}) => send({ type: 'log', message: text, details }),
    });
    send({ type: 'done', result });
  } catch (error) {
    if (error instanceof EngineError) send({ type: 'refused', msg: error.message, detail: error.detail });
    else send({ type: 'broken', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
