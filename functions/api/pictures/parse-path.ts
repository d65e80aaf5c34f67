/**
 * The URL scheme of imgproxy 4. A path has the form `/<signature>/<option>/…/<source>`. Each option is a name and arguments
 * joined by colons. The first part without a colon begins the source:
 *
 * - `plain/<percent-encoded URL>[@<extension>]`
 * - `<URL-safe base64 of the URL>[.<extension>]`, with slashes anywhere
 *
 * With a presets-only key there is one part before the source, with the names of presets joined by colons.
 */
import {
  defaultPictureLimits,
  type PictureLimits,
  type PictureSpec,
  resizingTypes,
} from '../../../shared/pictures/picture.ts';
import { badRequest, HttpError, invalidFields, notFound } from '../http/errors.ts';
import { proOnly, unexpected } from './arguments.ts';
import {
  applyOption,
  type Draft,
  decodeBase64,
  decodePercent,
  emptyDraft,
  hasControls,
  specOf,
  type UrlOption,
} from './options.ts';

/** The same as CloudFront. */
const maxPathLength = 8_192;
/** Arguments of all options, including those of presets. Presets that use others twice could otherwise multiply. */
const maxArguments = 500;

const form =
  'Expected a path of the form /<signature>/<options>/plain/<url> or /<signature>/<options>/<base64 of the url>';

/** A path whose signature has not been verified. */
export interface SignedPath {
  signature: string;
  /** The part that is signed, with its leading slash. */
  path: string;
}

/** What the key of a URL allows. */
export interface PathSettings {
  /** Options by the name of the preset, as in a URL. The preset `default` applies to every URL. */
  presets: Readonly<Record<string, string>>;
  presetsOnly: boolean;
  /** Whether options may lower the limits. imgproxy does not allow that by default. */
  securityOptions: boolean;
  limits: Readonly<PictureLimits>;
  /** Unix time in seconds. */
  now: number;
}

export interface PicturePath {
  /** URL of the source. Only its encoding has been checked. */
  source: string;
  spec: PictureSpec;
  /** Full names of the options in the path, in their order. */
  options: string[];
  /** Names of the presets that apply, in their order. */
  presets: string[];
}

/**
 * Splits the part of the raw path after the key into the signature and what is signed. Like imgproxy, it undoes what proxies
 * change: they encode colons, and they merge the two slashes after the scheme of a plain URL.
 */
export function splitPath(rawPath: string): SignedPath {
  const path = rawPath.split('?', 1)[0] ?? '';
  if (path.length > maxPathLength)
    throw new HttpError(413, 'url_too_long', `Expected a path of at most ${maxPathLength} characters.`);
  if (!path.isWellFormed()) throw badRequest('Expected a path of well-formed Unicode.');
  const [, signature, rest] = /^\/?([^/]+)\/(.+)$/s.exec(path) ?? [];
  if (signature === undefined || rest === undefined) throw notFound(`${form}.`);
  return { signature, path: `/${restored(rest)}` };
}

function restored(path: string): string {
  const start = path.startsWith('plain/') ? 0 : path.indexOf('/plain/');
  if (start < 0) return withColons(path).replace(/^\//, '');
  const source = path.indexOf('plain/', start) + 'plain/'.length;
  return `${withColons(path.slice(0, source)).replace(/^\//, '')}${withSlashes(path.slice(source))}`;
}

function withColons(options: string): string {
  return options.replaceAll('%3A', ':');
}

function withSlashes(url: string): string {
  return url.replace(/^([a-z][a-z\d+.-]*):\/(?=[^/])/i, '$1://');
}

/** Parses the signed part of a path. Throws a 400 that names the option and what it expects, or the 404 for an expired URL. */
export function parsePath(path: string, settings: Partial<PathSettings> = {}): PicturePath {
  return new PathReader(settings).read(path.replace(/^\//, '').split('/'));
}

/** Checks the definitions of presets. Throws the 400 that names the preset. */
export function checkPresets(presets: Readonly<Record<string, string>>, settings: Partial<PathSettings> = {}): void {
  for (const name of Object.keys(presets)) {
    if (!/^[\w.-]{1,64}$/.test(name))
      throw unexpected('presets', 'names of 1 to 64 letters, digits, dots, dashes and underscores', name);
    try {
      new PathReader({ ...settings, presets }).applyPreset(name);
    } catch (error) {
      if (error instanceof HttpError) throw invalidFields({ [`presets.${name}`]: [error.message] });
      throw error;
    }
  }
}

class PathReader {
  readonly #settings: PathSettings;
  readonly #draft: Draft;
  readonly #presets: string[] = [];
  #count = 0;

  constructor(settings: Partial<PathSettings>) {
    this.#settings = {
      presets: {},
      presetsOnly: false,
      securityOptions: false,
      limits: defaultPictureLimits,
      now: Math.floor(Date.now() / 1000),
      ...settings,
    };
    this.#draft = emptyDraft(this.#settings.limits);
  }

  read(parts: string[]): PicturePath {
    const { presets, presetsOnly } = this.#settings;
    if (Object.hasOwn(presets, 'default')) this.applyPreset('default');
    const start = presetsOnly ? 1 : startOfSource(parts);
    const options = presetsOnly
      ? [this.#apply({ name: 'preset', args: (parts[0] ?? '').split(':') })]
      : parts.slice(0, start).map((part) => this.#apply(optionOf(part)));
    const { source, extension } = sourceOf(parts.slice(start));
    // A raw source is returned as it is.
    if (extension && !this.#draft.simple.raw) this.#apply({ name: 'format', args: [extension] });
    return { source, spec: specOf(this.#draft), options, presets: this.#presets };
  }

  /** Applies a preset that is used by the outer ones. */
  applyPreset(name: string, outer: readonly string[] = []): void {
    const { presets } = this.#settings;
    const definition = Object.hasOwn(presets, name) ? presets[name] : undefined;
    if (definition === undefined) throw unexpected('preset', 'the name of a preset', name);
    // Like in imgproxy, a preset that uses itself is not an error.
    if (outer.includes(name)) return;
    this.#presets.push(name);
    for (const option of presetOptions(definition)) this.#apply(option, [...outer, name]);
  }

  /** Applies an option, and returns its full name. */
  #apply(option: UrlOption, outer: readonly string[] = []): string {
    this.#count += option.args.length;
    if (this.#count > maxArguments)
      throw badRequest(`Expected at most ${maxArguments} arguments of options, including those of presets.`);
    if (option.name !== 'preset' && option.name !== 'pr') return applyOption(this.#draft, option, this.#settings);
    for (const name of option.args) this.applyPreset(name, outer);
    return 'preset';
  }
}

function presetOptions(definition: string): UrlOption[] {
  const options = definition.split('/').map(optionOf);
  const invalid = options.find(({ args }) => args.length === 0);
  if (invalid) throw unexpected('preset', 'options of the form <name>:<arguments>, joined by slashes', invalid.name);
  return options;
}

function optionOf(part: string): UrlOption {
  const [name = '', ...args] = part.split(':');
  return { name, args };
}

function startOfSource(parts: readonly string[]): number {
  if (resizingTypes.some((type) => type === parts[0]))
    throw notFound(`${form}. The path seems to have the old form /<signature>/<resizing type>/<width>/<height>/….`);
  const start = parts.findIndex((part) => !part.includes(':'));
  return start < 0 ? parts.length : start;
}

interface Source {
  source: string;
  extension: string | undefined;
}

function sourceOf(parts: readonly string[]): Source {
  const [first, ...rest] = parts;
  if (first === undefined) throw notFound(`${form}, but there is no url.`);
  if (first === '-') throw proOnly('-', 'A chain of pipelines');
  if (first === 'enc') throw proOnly('enc', 'An encrypted URL');
  const isPlain = first === 'plain' && rest.length > 0;
  const [encoded = '', extension, ...more] = isPlain ? rest.join('/').split('@') : parts.join('').split('.');
  if (more.length > 0)
    throw badRequest(
      isPlain
        ? 'Expected at most one @, before the extension; as a part of the url, it is %40.'
        : 'Expected at most one dot, before the extension.',
    );
  const source = isPlain ? decodePercent(encoded) : decodeBase64(encoded);
  if (source === undefined) throw invalidSource(isPlain, first);
  if (source === '') throw notFound(`${form}, but the url is empty.`);
  if (hasControls(source)) throw badRequest('Expected a url without control characters.');
  return { source, extension };
}

function invalidSource(isPlain: boolean, first: string): HttpError {
  if (isPlain) return badRequest('Expected a percent-encoded url after plain/; a percent sign is %25.');
  return unexpected('url', 'an option with arguments, plain/<url>, or URL-safe base64 of the url', first);
}
