import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { officeFolder, officePipes } from '../../../functions/engines/document/office/office.ts';
import { makeProfile } from '../../../functions/engines/document/office/office-profile.ts';
import { ProgramError, runProgram } from '../../../functions/engines/runtime/program.ts';

it('makes a profile with which LibreOffice listens instead of ending to be started again', async () => {
  const programs = officeFolder() ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'office-profile-'));
  const ending = new AbortController();
  await makeProfile({ folder, programs, vectors: false });
  const options = [
    '--headless',
    '--invisible',
    '--nodefault',
    '--norestore',
    `-env:UserInstallation=file://${folder}/profile`,
    `--accept=pipe,name=${basename(folder)};urp;`,
  ];
  const ended = runProgram(join(programs, 'soffice.bin'), options, {
    cwd: folder,
    env: { HOME: folder, SAL_USE_VCLPLUGIN: 'svp' },
    signal: ending.signal,
  }).catch((error: unknown) => (error instanceof ProgramError ? `ended with ${error.code}` : 'stopped'));
  const [pipe = ''] = officePipes(folder);
  const listening = vi.waitFor(() => expect(existsSync(pipe)).toBe(true), { timeout: 50_000 }).then(() => 'listens');

  const outcome = await Promise.race([listening, ended]);

  ending.abort();
  await ended;
  await rm(folder, { recursive: true, force: true });
  for (const path of officePipes(folder)) await rm(path, { force: true });
  expect(outcome).toBe('listens');
}, 60_000);
