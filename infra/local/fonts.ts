import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { unpackBundle } from '../../functions/engines/webpage/bundle.ts';

const systemConfiguration = '/etc/fonts/fonts.conf';
const systemFolders = ['/usr/share/fonts', '/usr/local/share/fonts', join(homedir(), '.local/share/fonts')];

/**
 * Returns variables that configure a font on machines without any, where text would not be drawn at all. Systems other
 * than Linux have fonts.
 */
export async function fontVariables(): Promise<Record<string, string>> {
  if (process.platform !== 'linux' || process.env.FONTCONFIG_FILE || hasFonts()) return {};
  const folder = await unpackBundle('fonts', ['fonts.tar.br']);
  const path = join(folder, 'fonts.conf');
  await writeFile(path, configuration([join(folder, 'fonts'), ...systemFolders], join(folder, 'cache')));
  return { FONTCONFIG_FILE: path };
}

function hasFonts(): boolean {
  return (
    existsSync(systemConfiguration) &&
    systemFolders.some((folder) => existsSync(folder) && readdirSync(folder).length > 0)
  );
}

function configuration(folders: string[], cache: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">${systemConfiguration}</include>
${folders.map((folder) => `  <dir>${folder}</dir>`).join('\n')}
  <cachedir>${cache}</cachedir>
</fontconfig>
`;
}
