import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../../packages/local-aws/src/cloudfront/distribution.ts';
import { cacheFolder } from '../build/bundles.ts';
import { markAsUsed, publish, withDraft } from '../build/kept-folders.ts';
import { pageBuild, pageFingerprint } from '../page-build.ts';

const closer = new URL('./close-inherited.ts', import.meta.url).href;

/** Returns a function that finds the page of the current sources. It is built on first use after a change. */
export function pageOnDemand(report: (line: string) => void): () => Promise<Build> {
  let built: Promise<Build> | undefined;
  return () => {
    built ??= currentPage();
    // The source may be repaired before the next request.
    built.catch((error) => {
      built = undefined;
      report(`page: ${error instanceof Error ? error.message : String(error)}`);
    });
    return built;
  };
}

/** Returns the page of the current sources, built if they have changed. */
export async function currentPage(): Promise<Build> {
  const cache = cacheFolder();
  const folder = join(cache, `web-${pageFingerprint().slice(0, 32)}`);
  if (!existsSync(folder))
    await withDraft(cache, async (draft) => {
      await runVite(draft);
      publish(draft, folder);
    });
  markAsUsed(folder);
  return pageIn(folder);
}

/** Returns the page in a folder that it was built into. */
export function pageIn(folder: string): Build {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  return { folder, files: new Set(paths) };
}

/** Builds in a separate process: the build takes more memory than the service keeps. */
async function runVite(outDir: string): Promise<void> {
  const [program, ...args] = pageBuild(outDir);
  const child = spawn(program, ['--import', closer, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  const code = await promise;
  process.off('exit', killWithParent);
  if (code !== 0) throw new Error(`Vite ended with ${code}: ${said}`);
}
