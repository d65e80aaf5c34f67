import { join } from 'node:path';
import { readNumberSettings, SettingsError } from '../../shared/settings.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { projectRoot } from '../bundling.ts';
import { findMissing } from './engine-checks.ts';
import { fontVariables } from './fonts.ts';
import { greeting } from './greeting.ts';
import { startLocalStack } from './stack.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  readNumberSettings(process.env);
  const [template, missing, fonts] = await Promise.all([currentTemplate(), findMissing(), fontVariables()]);
  // Inherited by the functions' processes and their children.
  Object.assign(process.env, fonts);
  const running = await startLocalStack({
    template,
    missing,
    dataDirectory: process.env.LATHE_DATA || join(projectRoot, '.lathe'),
    port: Number(process.env.PORT ?? 3000),
    environment: process.env,
    report: (line) => void process.stderr.write(`${line}\n`),
  });
  print(greeting(running, missing));
  running.preparePage();

  let stopping = false;
  const stop = async () => {
    // A second Ctrl-C exits at once. Acknowledged data is on disk either way.
    if (stopping) process.exit(130);
    stopping = true;
    await running.stop();
    process.exit(0);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());
}

main().catch((error) => {
  process.stderr.write(`${error instanceof SettingsError ? error.message : explain(error)}\n`);
  process.exit(1);
});

function explain(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `Port ${process.env.PORT ?? 3000} is in use. Choose another: PORT=3001 npm start`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
