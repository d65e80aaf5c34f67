import { tmpdir } from 'node:os';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
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

test.for([
  ['an argument', () => runProgram('/bin/true', ['-phunter2\0'], { cwd: tmpdir() })],
  ['a variable', () => runProgram('/bin/true', [], { cwd: tmpdir(), env: { PASSWORD: 'hunter2\0' } })],
] as const)('%s with a NUL is refused, and the error does not name it', async ([, run]) => {
  const failure = await run().catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(EngineError);
  expect(inspect(failure)).not.toContain('hunter2');
});

test('nor does that of a program that is not there', async () => {
  const failure = await runProgram('/bin/no-such-program', ['-phunter2'], { cwd: tmpdir() }).catch(
    (error: unknown) => error,
  );

  expect(failure).toMatchObject({ code: 'ENOENT' });
  expect(inspect(failure)).not.toContain('hunter2');
});

test('the message about a program that failed is bounded', async () => {
  const failure = await shell('head -c 900000 /dev/zero | tr "\\0" x >&2; exit 3').catch((error: unknown) => error);

  expect(Object(failure).message.length).toBeLessThan(1_100);
});
