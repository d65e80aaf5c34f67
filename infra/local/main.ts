import { join } from 'node:path';
import { readNumberSettings, SettingsError } from '../../shared/settings.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { projectRoot } from '../bundling.ts';
import { builtService } from './built.ts';
import { findMissing } from './engine-checks.ts';
import { fontVariables } from './fonts.ts';
import { greeting } from './greeting.ts';
import { startLocalStack } from './stack.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  readNumberSettings(process.env);
  const url = clientUrl(process.env.LATHE_URL);
  const built = process.env.LATHE_BUILT ? builtService(process.env.LATHE_BUILT) : undefined;
  const [template, missing, fonts] = await Promise.all([
    built?.template ?? currentTemplate(),
    findMissing(),
    fontVariables(),
  ]);
  // Inherited by the functions' processes and their children.
  Object.assign(process.env, fonts);
  const running = await startLocalStack({
    template,
    missing,
    built,
    url,
    host: process.env.LATHE_LISTEN || undefined,
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

/** Returns the root URL for clients, or throws if it has a path that links would lack. */
function clientUrl(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new SettingsError(`LATHE_URL: expected a URL such as https://lathe.example.com but received ${text}`);
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
