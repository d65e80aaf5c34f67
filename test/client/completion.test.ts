import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { main } from '../../packages/client/src/cli/main.ts';
import { skipBecause } from '../support/skip.ts';

async function scriptFor(shell: string): Promise<string> {
  let script = '';
  const stream = {
    write: (text: string | Uint8Array) => {
      script += text;
    },
  };
  expect(await main(['completion', shell], { out: stream, err: stream })).toBe(0);
  return script;
}

function has(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** Runs lines of a shell that print what is completed. */
function run(program: string, args: string[], lines: string): string[] {
  const { stdout, stderr } = spawnSync(program, args, { input: lines, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split(/\s+/);
}

describe('lathe completion', () => {
  const cases: [string, string][] = [
    ['lathe com', 'compress completion'],
    ['lathe job ', 'show cancel download'],
    ['lathe crop --w', '--webpage --with --width'],
    ['lathe completion ', 'bash zsh fish'],
  ];

  test.each(cases)('completes %j in bash', async (line, expected) => {
    const words = line.split(' ');
    const found = run(
      'bash',
      ['--norc'],
      `${await scriptFor('bash')}
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      _lathe; echo "\${COMPREPLY[@]}"`,
    );
    expect(found.join(' ')).toBe(expected);
  });

  test.each(cases)(
    'completes %j in zsh',
    skipBecause(has('zsh') ? undefined : 'zsh is not installed'),
    async (line, expected) => {
      const words = line.split(' ');
      const found = run(
        'zsh',
        ['-f'],
        `compdef() {}; compadd() { shift; print -- "$@" }
        ${await scriptFor('zsh')}
        words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'
        _lathe`,
      );
      // The shell itself leaves out what does not begin with the word.
      expect(found).toEqual(expect.arrayContaining(expected.split(' ')));
    },
  );

  test.each(cases)(
    'completes %j in fish',
    skipBecause(has('fish') ? undefined : 'fish is not installed'),
    async (line, expected) => {
      const lines = `${await scriptFor('fish')}\ncomplete -C '${line}' | cut -f1`;
      const found = run('fish', ['--no-config', '-c', lines], '');
      expect(found.sort()).toEqual(expected.split(' ').sort());
    },
  );
});
