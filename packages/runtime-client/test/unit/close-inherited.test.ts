import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { skipBecause } from '../../../../test/support/skip.ts';

const reason = process.platform === 'linux' ? undefined : 'Descriptors are inherited unintentionally only on Linux.';
const module = new URL('../../src/close-inherited.ts', import.meta.url);
/** Lists those of the given descriptors that are open, in the process itself and in one that it starts. */
const list = `
  const { closeInherited } = await import('${module.href}');
  closeInherited([22]);
  const { execFileSync } = await import('node:child_process');
  const { existsSync } = await import('node:fs');
  const numbers = [5, 20, 21, 22];
  const own = numbers.filter((number) => existsSync('/proc/self/fdinfo/' + number));
  const script = 'for n in ' + numbers.join(' ') + '; do [ ! -e /proc/self/fdinfo/$n ] || echo $n; done';
  const inherited = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\\n').filter(Boolean);
  console.log(JSON.stringify({ own, inherited: inherited.map(Number) }));`;

it('closes files and pipes that the parent left open, and keeps the given ones', skipBecause(reason), () => {
  const file = openSync(new URL(import.meta.url), 'r');
  const stdio = Array<'ignore' | 'pipe' | number>(23).fill('ignore');
  // Node marks what is below 16 as close-on-exec when it starts, so that it cannot be told from its own by that.
  for (const position of [5, 20, 22]) stdio[position] = file;
  const options = { stdio: stdio.with(1, 'pipe').with(2, 'pipe').with(21, 'pipe'), encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', list], options);
  closeSync(file);

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ own: [22], inherited: [22] });
});
