import type { Component, EngineCatalogue, Missing } from './catalogue.ts';

/** Package manager of a machine, if known. */
export type PackageManager = 'apt' | 'brew';

/** Missing components of a machine, and its package manager. */
export interface MissingComponents {
  manager?: PackageManager;
  engines: Missing;
}

/** Limit for the list of missing components: all environment variables of a Lambda function share 4 KB. */
const maxBytes = 2_000;

/** Encodes the missing components for an environment variable. Reasons that do not fit are omitted, names never are. */
export function encodeMissing({ manager, engines }: MissingComponents): string {
  const encoded = (change: (reason: string) => string) =>
    JSON.stringify({ manager, engines: withReasons(engines, change) });
  let room = maxBytes - Buffer.byteLength(encoded(() => ''));
  return encoded((reason) => {
    const short = reason.slice(0, 200);
    const bytes = Buffer.byteLength(JSON.stringify(short));
    if (bytes > room) return '';
    room -= bytes;
    return short;
  });
}

function withReasons(engines: Missing, change: (reason: string) => string): Missing {
  return Object.fromEntries(
    Object.entries(engines).map(([engine, parts]) => [
      engine,
      Object.fromEntries(Object.entries(parts).map(([name, reason]) => [name, change(reason)])),
    ]),
  );
}

/** Decodes what `encodeMissing` wrote; without the variable, nothing is missing. */
export function decodeMissing(text: string | undefined): MissingComponents {
  return text ? JSON.parse(text) : { engines: {} };
}

/** Returns the command that installs components with the machine's package manager, if there is one. */
function installHint(components: Component[], manager: PackageManager | undefined): string | undefined {
  if (manager === undefined) return undefined;
  const packages = [...new Set(components.flatMap((component) => component[manager] ?? []))].sort();
  if (packages.length === 0) return undefined;
  return `${manager === 'apt' ? 'sudo apt-get' : 'brew'} install ${packages.join(' ')}`;
}

/** Describes how to install all missing components of some engines: by a command if possible, otherwise by name. */
export function installAllHint(
  engines: EngineCatalogue[],
  { manager, engines: missing }: MissingComponents,
): string | undefined {
  const lacked = engines.flatMap(({ engine, components = {} }) =>
    Object.keys(missing[engine] ?? {}).map((name): Component => components[name] ?? { label: name }),
  );
  const usual = lacked.filter(({ optional }) => !optional);
  const hint = installHint(usual, manager);
  const rest = usual.filter((component) => manager === undefined || !component[manager]);
  const names = [...new Set(rest.map(({ label }) => label))];
  const sentences = [
    ...(hint ? [`To install missing components: ${hint}`] : []),
    ...(names.length > 0 ? [`${hint ? 'Also not' : 'Not'} installed: ${names.join(', ')}`] : []),
  ];
  return sentences.length > 0 ? sentences.join('\n') : undefined;
}

export interface MissingComponent {
  name: string;
  reason: string;
  /** A command that installs it. */
  hint?: string;
}

/** Describes the missing components of an engine. */
export function describeMissing(
  { engine, components = {} }: EngineCatalogue,
  { manager, engines }: MissingComponents,
): MissingComponent[] {
  return Object.entries(engines[engine] ?? {}).map(([name, reason]) => {
    const component = components[name] ?? { label: name };
    const hint = installHint([component], manager);
    const what = component.label === name ? name : `${component.label} (${name})`;
    return {
      name,
      reason: reason === '' ? `${what} is not installed.` : unusable(what, reason),
      ...(hint ? { hint } : {}),
    };
  });
}

/** Describes why an engine is unavailable. */
export function reasonOff({ engine, components = {} }: EngineCatalogue, { engines }: MissingComponents): string {
  const parts = Object.entries(engines[engine] ?? {}).map(([name, reason]) => ({
    label: components[name]?.label ?? name,
    reason,
  }));
  const absent = new Set(parts.flatMap(({ label, reason }) => (reason === '' ? [label] : [])));
  return [
    ...(absent.size > 0 ? [`Not installed: ${[...absent].join(', ')}.`] : []),
    ...parts.flatMap(({ label, reason }) => (reason === '' ? [] : [unusable(label, reason)])),
  ].join(' ');
}

function unusable(what: string, reason: string): string {
  return `${what} cannot be used: ${reason.replace(/\.?$/, '.')}`;
}
