import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TamperedError } from '../../../functions/engines/runtime/checks.ts';
import { Folder } from '../../../functions/engines/runtime/sandbox/folder.ts';
import { skipBecause } from '../../support/skip.ts';

const linux = process.platform === 'linux' ? undefined : 'Folders are reached by their descriptors on Linux only.';

let root: string;
let victim: string;
let folder: Folder;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  victim = join(root, 'victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'secret'), 'secret');
  folder = Folder.open(root).make('own', 0o700);
});

afterEach(() => {
  folder.close();
  rmSync(root, { recursive: true, force: true });
});

/** Moves the folder away and leaves a link to another in its place. */
function swap(): void {
  renameSync(folder.path, `${folder.path}-away`);
  symlinkSync(victim, folder.path);
}

describe('A folder that was replaced by a link', skipBecause(linux), () => {
  test('is the one that was opened, for whatever is made, read or deleted in it', () => {
    writeFileSync(join(folder.path, 'file'), 'file');
    swap();
    expect(folder.isAtItsPath).toBe(false);
    folder.create('made', { mode: 0o600 });
    expect(folder.openFile(['file']).size).toBe(4);
    expect(readdirSync(`${folder.path}-away`).sort()).toEqual(['file', 'made']);
    folder.empty();
    expect(readdirSync(`${folder.path}-away`)).toEqual([]);
    expect(readdirSync(victim)).toEqual(['secret']);
  });
});

describe('A file that is handed over', () => {
  test.for([
    ['missing', () => {}],
    ['a link', () => symlinkSync(join(victim, 'secret'), join(folder.path, 'file'))],
    ['a second name of another', () => linkSync(join(victim, 'secret'), join(folder.path, 'file'))],
    ['a folder', () => mkdirSync(join(folder.path, 'file'))],
    ['a pipe', () => execFileSync('mkfifo', [join(folder.path, 'file')])],
  ] as const)('is refused if it is %s', ([, make]) => {
    make();
    expect(() => folder.openFile(['file'])).toThrow(TamperedError);
  });

  test.for([[], [''], ['.'], ['..', 'victim', 'secret'], ['a/../../victim/secret'], ['link', 'secret'], ['a\0b']])(
    'is refused if its path is %j',
    (names) => {
      symlinkSync(victim, join(folder.path, 'link'));
      expect(() => folder.openFile(names)).toThrow(TamperedError);
    },
  );
});

describe('A folder that is emptied', () => {
  test('is emptied of links, deep trees, closed folders and names that are not text', () => {
    symlinkSync(victim, join(folder.path, 'link'));
    let deep = folder.path;
    for (let depth = 0; depth < 100; depth += 1) {
      deep = join(deep, 'd');
      mkdirSync(deep);
      symlinkSync(victim, join(deep, 'link'));
    }
    mkdirSync(join(folder.path, 'closed', 'inner'), { recursive: true });
    chmodSync(join(folder.path, 'closed'), 0);
    writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0x0a])]), '');
    folder.empty();
    expect(readdirSync(folder.path)).toEqual([]);
    expect(readdirSync(victim)).toEqual(['secret']);
  });

  test('keeps what it is told to', () => {
    for (const name of ['kept', 'other']) writeFileSync(join(folder.path, name), '');
    folder.empty({ keep: (name) => name === 'kept' });
    expect(readdirSync(folder.path)).toEqual(['kept']);
  });
});

test('The bytes of a folder are those of its files, and of no link', () => {
  mkdirSync(join(folder.path, 'a'));
  writeFileSync(join(folder.path, 'a', 'file'), Buffer.alloc(100_000));
  symlinkSync(join(victim, 'secret'), join(folder.path, 'link'));
  const { blocks } = lstatSync(join(folder.path, 'a', 'file'));
  expect(folder.bytes(1e9)).toBeGreaterThanOrEqual(blocks * 512);
  expect(folder.bytes(1e9)).toBeLessThan(blocks * 512 + 20_000);
  expect(folder.bytes(1_000)).toBeGreaterThan(1_000);
});
