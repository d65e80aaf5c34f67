import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fontConfiguration } from './fonts.ts';

/** One setting of LibreOffice's configuration: path, name and value. */
type Setting = [path: string, name: string, value: string];

const security = '/org.openoffice.Office.Common/Security/Scripting';

/**
 * Restricts what a document may do. Settings are one layer of several: LibreOffice also has no network, a clean environment,
 * a folder of its own, and every document is loaded with macros and link updates off.
 *
 * If the system can block neither network nor files, two settings still protect. All importers open addresses through the
 * Universal Content Broker, so a scheme without a provider cannot be opened. The only known exception is SVG, because its
 * importer opens local files itself. It is removed unless the document was searched for SVGs.
 */
const settings: Setting[] = [
  [security, 'DisableMacrosExecution', 'true'],
  [security, 'MacroSecurityLevel', '3'],
  [security, 'BlockUntrustedRefererLinks', 'true'],
  [security, 'CheckDocumentEvents', 'true'],
  ['/org.openoffice.Office.Common/Security', 'EnableExpertConfiguration', 'false'],
  ['/org.openoffice.Office.Java/VirtualMachine', 'Enable', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'UseSystemFileDialog', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'FirstRun', 'false'],
  // No other program opens the file.
  ['/org.openoffice.Office.Common/Misc', 'UseLocking', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'UseDocumentOOoLockFile', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'UseDocumentSystemFileLocking', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'CollectUsageInformation', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'CrashReport', 'false'],
  ['/org.openoffice.Office.Common/VCL', 'UseOpenGL', 'false'],
  ['/org.openoffice.Office.Common/Load', 'UserDefinedSettings', 'false'],
  ['/org.openoffice.Office.Common/Save/Document', 'AutoSave', 'false'],
  ['/org.openoffice.Office.Recovery/AutoSave', 'Enabled', 'false'],
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', '0'],
  ['/org.openoffice.Office.WriterWeb/Content/Update', 'Link', '0'],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', '1'],
  // Files are not recalculated, so that the values are those that the author saw.
  ['/org.openoffice.Office.Calc/Formula/Load', 'OOXMLRecalcMode', '1'],
  ['/org.openoffice.Office.Calc/Formula/Load', 'ODFRecalcMode', '1'],
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', 'true'],
  ['/org.openoffice.Setup/Product', 'ooSetupLastVersion', '7.4'],
  ['/org.openoffice.Office.Update/Update', 'Enabled', 'false'],
  ['/org.openoffice.Inet/Settings', 'ooInetProxyType', '0'],
];

const providers = '/org.openoffice.ucb.Configuration/ContentProviders/Local/SecondaryKeys/Office/ProviderData';
const fileProvider = 'com.sun.star.ucb.FileContentProvider';

/** LibreOffice's providers that connect to other hosts or open archives on disk. */
const unprovided: [number: string, scheme: string][] = [
  ['3', 'http'],
  ['4', 'vnd.sun.star.webdav'],
  ['4a', 'webdav'],
  ['5', 'vnd.sun.star.help'],
  ['6', 'ftp'],
  ['8', 'vnd.sun.star.pkg'],
  ['11', 'vnd.sun.star.zip'],
  ['12', 'https'],
  ['12a', 'vnd.sun.star.webdavs'],
  ['12b', 'webdavs'],
  ['43', 'vnd.libreoffice.cmis'],
];

/** Assigns a service to the addresses of a scheme or prefix. Without a service they cannot be opened. */
function provider(name: string, template: string, service: string): string {
  const props = [
    ['ServiceName', service],
    ['URLTemplate', template],
    ['Arguments', ''],
  ].map(([prop, value]) => `<prop oor:name="${prop}"><value>${value}</value></prop>`);
  return `<item oor:path="${providers}"><node oor:name="${name}" oor:op="replace">${props.join('')}</node></item>`;
}

const filesIn = (folder: string) => `&quot;${pathToFileURL(folder).href.replaceAll('&', '&amp;')}/&quot;.*`;

const withoutSvg =
  '<item oor:path="/org.openoffice.TypeDetection.GraphicFilter/Filters"><node oor:name="svg_Import" oor:op="remove"/></item>';

interface ProfileSetting {
  /** LibreOffice's own folder, which holds its profile and the files of a job. */
  folder: string;
  /** The folder of its programs. */
  programs: string;
  /** Whether it may read SVGs. */
  vectors: boolean;
}

/**
 * Creates the profile of a LibreOffice and its font configuration. The profile contains the build that last searched for
 * extensions: otherwise LibreOffice would search, write that value and restart, which takes twice as long.
 */
export async function makeProfile(setting: ProfileSetting): Promise<void> {
  const user = join(setting.folder, 'profile', 'user');
  await mkdir(join(user, 'extensions'), { recursive: true });
  await writeFile(join(user, 'registrymodifications.xcu'), await registryOf(setting));
  const build = /^buildid=(.+)$/m.exec(await readFile(join(setting.programs, 'versionrc'), 'utf8'))?.[1];
  if (build !== undefined) await writeFile(join(user, 'extensions', 'buildid'), build);
  const system = process.env.FONTCONFIG_FILE || '/etc/fonts/fonts.conf';
  await writeFile(join(setting.folder, 'fonts.conf'), fontConfiguration(system));
}

async function registryOf({ folder, programs, vectors }: ProfileSetting): Promise<string> {
  const installed = await realpath(dirname(programs));
  const items = [
    ...settings.map(
      ([path, name, value]) =>
        `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
    ),
    ...unprovided.map(([number, scheme]) => provider(`Provider${number}`, scheme, '')),
    provider('Provider2', filesIn(folder), fileProvider),
    provider('ProviderOfInstallation', filesIn(installed), fileProvider),
    ...(vectors ? [] : [withoutSvg]),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
${items.join('\n')}
</oor:items>
`;
}
