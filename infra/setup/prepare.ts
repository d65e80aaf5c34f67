// Builds what the first minute on the page needs, before `npm start` prints the link: template, page and the functions
// that the page calls first. Others are bundled when they are first called.
import { join } from 'node:path';
import { currentBundleFolders } from '../build/bundles.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { projectRoot } from '../bundling.ts';
import { currentPage } from '../local/page.ts';

const firstFunctions = [
  'api/account/create-token',
  'api/account/show-account',
  'api/files/download-file',
  'api/formats/query-formats',
  'api/formats/query-options',
  'api/instant/instant',
  'api/jobs/create-job',
  'api/jobs/show-job',
  'api/sign-in/begin',
  'api/sign-in/callback',
  'events/relay/relay',
  'events/websocket/socket',
  'lifecycle/uploaded',
  'worker/handler',
].map((name) => join(projectRoot, 'functions', `${name}.ts`));

/** After this long, the work is more than to find what was built earlier. */
const noticeableMs = 700;

const started = performance.now();
const pending = new Set(['template', 'page', 'functions']);
const draw = () => {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[KBuilding ${[...pending].join(', ')} …`);
};
const notice = setTimeout(() => {
  if (process.stdout.isTTY) draw();
  else process.stdout.write(`Building ${[...pending].join(', ')} …\n`);
}, noticeableMs);

async function step(name: string, work: Promise<unknown>): Promise<void> {
  await work;
  pending.delete(name);
  if (performance.now() - started > noticeableMs && pending.size > 0) draw();
}

const outcomes = await Promise.allSettled([
  step('template', currentTemplate()),
  step('page', currentPage()),
  step('functions', currentBundleFolders(firstFunctions)),
]);
clearTimeout(notice);
const seconds = (performance.now() - started) / 1000;
if (seconds * 1000 > noticeableMs)
  process.stdout.write(`${process.stdout.isTTY ? '\r\x1b[K' : ''}Built in ${seconds.toFixed(1)} s.\n`);
for (const outcome of outcomes) {
  if (outcome.status === 'fulfilled') continue;
  process.stderr.write(`${outcome.reason instanceof Error ? outcome.reason.message : String(outcome.reason)}\n`);
  process.exitCode = 1;
}
