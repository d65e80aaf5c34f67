import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { ProgramError, runProgram } from '../../../functions/engines/runtime/program.ts';

const shell = (script: string) => runProgram('/bin/sh', ['-c', script], { cwd: tmpdir() });

test('a program that left another one with its pipes has ended all the same', async () => {
  const began = performance.now();

  const { code, stdout } = await shell('sleep 30 & echo "$!"');

  expect(code).toBe(0);
  expect(performance.now() - began).toBeLessThan(15_000);
  process.kill(Number(stdout), 'SIGKILL');
});

test('and how it ended is known', async () => {
  const failure = await shell('sleep 30 & echo "$!" >&2; exit 3').catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(ProgramError);
  expect(failure).toMatchObject({ code: 3 });
  process.kill(Number(Object(failure).stderr), 'SIGKILL');
});

test('all that a program writes is read, however much it is', async () => {
  const { stdout } = await shell('head -c 900000 /dev/zero | tr "\\0" x; echo end');

  expect(stdout).toHaveLength(900_004);
  expect(stdout).toMatch(/end\n$/);
});
