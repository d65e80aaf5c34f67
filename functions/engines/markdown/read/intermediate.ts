import { officeFormat } from '../../document/formats.ts';

type Package = 'docx' | 'pptx' | 'xlsx';

const macroless: Record<string, Package> = {
  ...Object.fromEntries(['docx', 'docm', 'dotx', 'dotm'].map((format) => [format, 'docx'] as const)),
  ...Object.fromEntries(['pptx', 'pptm', 'ppsx', 'ppsm', 'potx', 'potm'].map((format) => [format, 'pptx'] as const)),
  ...Object.fromEntries(['xlsx', 'xlsm', 'xltx', 'xltm'].map((format) => [format, 'xlsx'] as const)),
};

/** Returns the package that files of a format are; undefined if they are something else. */
export function packageOf(format: string): Package | undefined {
  return macroless[format];
}

export const textual = ['html', 'xhtml', 'txt', 'csv', 'tsv'];

/** Returns the format that LibreOffice converts a document to before it is read; undefined if it is read as it is. */
export function intermediateOf(format: string): Package | undefined {
  if (packageOf(format) || textual.includes(format)) return undefined;
  const kind = officeFormat(format)?.kind;
  return kind === 'text' ? 'docx' : kind === 'slides' ? 'pptx' : kind === 'sheet' ? 'xlsx' : undefined;
}
