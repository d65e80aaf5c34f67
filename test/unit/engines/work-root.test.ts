import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WorkRoot } from '../../../functions/engines/runtime/sandbox/work-root.ts';

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
    root.empty({ warm: true });
    expect(readdirSync(shared)).toEqual(['of-somebody-else']);
  });

  test.for([
    ['in an image', 'LATHE_OWNS_TMP', 'true'],
    ["on Lambda's own runtime", 'LAMBDA_RUNTIME_DIR', '/var/runtime'],
  ] as const)('is emptied before each task %s', ([, name, value]) => {
    vi.stubEnv(name, value);
    root.empty({ warm: true });
    expect(readdirSync(shared)).toEqual([]);
  });
});
