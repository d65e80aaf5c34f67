import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { crashOnFile, faultOfFile } from '../../../functions/engines/runtime/file-faults.ts';
import { ProgramError, runProgram } from '../../../functions/engines/runtime/program.ts';

const folder = '/tmp/task';
const programError = (result: { code?: number; signal?: string }) =>
  new ProgramError('gs', { code: undefined, stdout: '', stderr: 'why', timedOut: false, ...result });
const systemError = (code: string, more: { path?: string; syscall?: string } = {}) =>
  Object.assign(new Error(`${code}: reason`), { code, ...more });

describe('an error of an engine', () => {
  it.each<[string, unknown, RegExp]>([
    ['a program that dies of a signal', programError({ signal: 'SIGSEGV' }), /failed on this file/],
    ['a program that is killed for memory', programError({ signal: 'SIGKILL' }), /failed on this file/],
    ['a program that ends badly', programError({ code: 1 }), /failed on this file/],
    ['memory that is not to be had', systemError('ENOMEM'), /more memory/],
    ['a text too long for a string', systemError('ERR_STRING_TOO_LONG'), /more memory/],
    ['a buffer too long', new RangeError('Array buffer allocation failed'), /more memory/],
    ['a full disk', systemError('ENOSPC'), /more disk space/],
    ['an output that no program wrote', systemError('ENOENT', { path: `${folder}/out.png` }), /produced no file/],
  ])('that the file would cause again is a refusal: %s', (_what, error, message) => {
    const refusal = faultOfFile(error, folder);

    expect(refusal).toBeInstanceOf(EngineError);
    expect(refusal?.message).toMatch(message);
    expect(refusal?.detail).not.toBe('');
  });

  it('that is a refusal stays the same', () => {
    const refusal = new EngineError('No such colour.');

    expect(faultOfFile(refusal, folder)).toBe(refusal);
  });

  it.each<[string, unknown]>([
    ['a bug', new TypeError('x is not a function')],
    ['a program that is not installed properly', programError({ code: 127 })],
    ['a file of ours that is gone', systemError('ENOENT', { path: '/usr/share/fonts' })],
    ['something that is no error', 'text'],
  ])('that may be ours is none: %s', (_what, error) => {
    expect(faultOfFile(error, folder)).toBeUndefined();
  });

  it('that Node makes of a missing output or a missing program is told apart', async () => {
    const missing = await readFile(`${folder}/no/such/file`).catch((error: unknown) => error);
    const notInstalled = await runProgram('no-such-program', [], { cwd: '/' }).catch((error: unknown) => error);

    expect(faultOfFile(missing, folder)?.message).toBe('The conversion produced no file.');
    expect(faultOfFile(notInstalled, folder)).toBeUndefined();
  });

  it('that ends its own process is a refusal if it crashed, and not if somebody killed it', () => {
    expect(crashOnFile('SIGSEGV')).toBeInstanceOf(EngineError);
    expect(crashOnFile('SIGABRT')).toBeInstanceOf(EngineError);
    expect(crashOnFile('SIGKILL')).toBeUndefined();
    expect(crashOnFile('SIGTERM')).toBeUndefined();
    expect(crashOnFile(null)).toBeUndefined();
  });
});
