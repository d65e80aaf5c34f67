import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WorkRoot } from '../../../functions/engines/runtime/sandbox/work-root.ts';
import { skipBecause } from '../../support/skip.ts';

/** Stands for /tmp, with a file of somebody else. */
let shared: string;
let root: WorkRoot;

beforeEach(() => {
  shared = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  writeFileSync(join(shared, 'of-somebody-else'), '');
  root = new WorkRoot(undefined, [], [shared]);
});

afterEach(() => {
  vi.unstubAllEnvs();
  root.remove();
  rmSync(shared, { recursive: true, force: true });
});

describe('The temporary folder of the machine', () => {
  test('keeps what others have there, also for a function that runs on a desk', () => {
    vi.stubEnv('LAMBDA_TASK_ROOT', '/somewhere');
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'image');
    root.startTask();
    expect(readdirSync(shared)).toEqual(['of-somebody-else']);
  });

  test.for([
    ['in an image', 'LATHE_OWNS_TMP', 'true'],
    ["on Lambda's own runtime", 'LAMBDA_RUNTIME_DIR', '/var/runtime'],
  ] as const)('is emptied before each task %s', ([, name, value]) => {
    vi.stubEnv(name, value);
    root.startTask();
    expect(readdirSync(shared)).toEqual([]);
  });
});

const notRoot = process.getuid?.() === 0 ? undefined : 'Only root can start processes of another user.';

describe('Folders of processes that were killed', skipBecause(notRoot), () => {
  const noProcess = 2 ** 22 + 1;
  const ordinaryUser = 12_345;
  const module = new URL('../../../functions/engines/runtime/sandbox/work-root.ts', import.meta.url).href;

  /** Makes and removes a work root as a user and returns what is left of the abandoned folder. */
  function abandonedAfter(user: number): string[] {
    chmodSync(shared, 0o777);
    const abandoned = join(shared, `lathe-sandbox-${noProcess}-abcdef`);
    mkdirSync(join(abandoned, 'tasks'), { recursive: true, mode: 0o700 });
    const script = `const { WorkRoot } = await import('${module}'); new WorkRoot(undefined, []).remove();`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      uid: user,
      env: { TMPDIR: shared },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    return readdirSync(shared).filter((name) => name !== 'of-somebody-else');
  }

  test('are removed by the next that starts', () => {
    expect(abandonedAfter(0)).toEqual([]);
  });

  test('hold up nobody whose they are not', () => {
    expect(abandonedAfter(ordinaryUser)).toEqual([`lathe-sandbox-${noProcess}-abcdef`]);
  });
});
