/** One setting of LibreOffice's configuration: path, name and value. */
type Setting = [path: string, name: string, value: string];

const security = '/org.openoffice.Office.Common/Security/Scripting';

/**
 * Restricts what a document may do. Settings are one layer of several: LibreOffice also has no network, a clean environment,
 * a folder of its own, and every document is loaded with macros and link updates off.
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
  ['/org.openoffice.Office.Common/Misc', 'CollectUsageInformation', 'false'],
  ['/org.openoffice.Office.Common/Misc', 'CrashReport', 'false'],
  ['/org.openoffice.Office.Common/VCL', 'UseOpenGL', 'false'],
  ['/org.openoffice.Office.Common/Load', 'UserDefinedSettings', 'false'],
  ['/org.openoffice.Office.Common/Save/Document', 'AutoSave', 'false'],
  ['/org.openoffice.Office.Recovery/AutoSave', 'Enabled', 'false'],
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', '0'],
  ['/org.openoffice.Office.WriterWeb/Content/Update', 'Link', '0'],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', '1'],
  // Foreign files are not recalculated: what the author saw is converted.
  ['/org.openoffice.Office.Calc/Formula/Load', 'OOXMLRecalcMode', '1'],
  ['/org.openoffice.Office.Calc/Formula/Load', 'ODFRecalcMode', '1'],
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', 'true'],
  ['/org.openoffice.Setup/Product', 'ooSetupLastVersion', '7.4'],
  ['/org.openoffice.Office.Update/Update', 'Enabled', 'false'],
  ['/org.openoffice.Inet/Settings', 'ooInetProxyType', '0'],
];

/** Returns the text of a profile's registrymodifications.xcu. */
export function profileRegistry(): string {
  const items = settings.map(
    ([path, name, value]) =>
      `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
${items.join('\n')}
</oor:items>
`;
}
