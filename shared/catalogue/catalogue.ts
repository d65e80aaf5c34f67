/**
 * What engines can do, as data. Each engine folder has a catalogue module of these types and nothing native in it;
 * validation, format and option queries, the OpenAPI document and the tests all read it.
 */

export const operations = ['convert', 'compress', 'merge', 'crop', 'trim'] as const;
export type ProcessingOperation = (typeof operations)[number];

export interface OptionCondition {
  name: string;
  required: boolean;
  meta: { value: string | number | boolean; label: string }[];
}

/** An option as the spec's descriptor shows it, with the field's `label`, `units` and `properties` beside. */
export interface OptionDescriptor {
  name: string;
  label?: string;
  hint: string;
  data_type: 'boolean' | 'string' | 'number' | 'integer';
  default_value?: string;
  type?: 'enum';
  enum_values?: { value: string; hint: string; label?: string }[];
  units?: string;
  properties?: { min?: number; max?: number; pattern?: string };
  conditions?: OptionCondition[];
}

export interface Format {
  /** Extension without a dot. */
  ext: string;
  mediaType: string;
  /** The format this is another spelling of: `jpeg` is `jpg`. */
  aliasOf?: string;
  /** What content detection calls files of this format where that is not the format's own name: a `doc` is a `cfb`. */
  contents?: string[];
}

/** Every input format of `from` goes to every output format of `to` with these options. */
export interface Capability {
  operation: ProcessingOperation;
  from: string[];
  to: string[];
  options: OptionDescriptor[];
}

/** What the function of an engine is made of and may use. */
export interface EngineResources {
  /** `image` where system programs are needed, from the engine's packages.txt and Dockerfile; `zip` where npm packages do. */
  packaging: 'image' | 'zip';
  memoryMegabytes: number;
  diskMegabytes: number;
  timeoutSeconds: number;
  /** Conversions at once in a deployment, so that one engine cannot use up the account's functions. */
  mostAtOnce: number;
  /** Options of Node itself, where its own choice does not suit the work. */
  nodeOptions?: string;
}

export interface EngineCatalogue {
  engine: string;
  summary: string;
  resources: EngineResources;
  formats: Format[];
  capabilities: Capability[];
  /** Tells formats that the general detection does not know, from a file's first bytes. */
  detect?: (start: Uint8Array, name: string) => string | undefined;
}

export interface Match {
  engine: string;
  capability: Capability;
}

/** The union of the catalogues of the engines that an instance has. The first engine that can do a pair does it. */
export class Catalogue {
  readonly #engines: EngineCatalogue[];
  readonly #formats = new Map<string, Format>();
  readonly #matches = new Map<string, Match>();

  constructor(engines: EngineCatalogue[]) {
    this.#engines = engines;
    for (const { engine, formats, capabilities } of engines) {
      for (const format of formats) {
        if (!this.#formats.has(format.ext)) this.#formats.set(format.ext, format);
      }
      for (const capability of capabilities) {
        for (const from of capability.from) {
          for (const to of capability.to) {
            const key = pairKey(capability.operation, from, to);
            if (!this.#matches.has(key)) this.#matches.set(key, { engine, capability });
          }
        }
      }
    }
  }

  get engines(): EngineCatalogue[] {
    return this.#engines;
  }

  /** Returns what is known of a format. */
  format(ext: string): Format | undefined {
    return this.#formats.get(ext);
  }

  /** Finds who does an operation for a pair of formats. */
  find(operation: ProcessingOperation, from: string, to: string): Match | undefined {
    return this.#matches.get(pairKey(operation, from, to));
  }

  /** Lists the output formats of an input format, or all of them for `*`, sorted. */
  outputs(operation: ProcessingOperation, from: string): string[] {
    return this.#collect(operation, (capability) => from === '*' || capability.from.includes(from), 'to');
  }

  /** Lists the input formats that can become an output format, or all of them for `*`, sorted. */
  inputs(operation: ProcessingOperation, to: string): string[] {
    return this.#collect(operation, (capability) => to === '*' || capability.to.includes(to), 'from');
  }

  /** Lists every format that some operation reads or writes, sorted. */
  formats(): string[] {
    return [
      ...new Set(operations.flatMap((operation) => [...this.inputs(operation, '*'), ...this.outputs(operation, '*')])),
    ].sort();
  }

  /** Returns the one spelling of a format's name: `jpeg` and `JPG` are `jpg`. */
  canonical(ext: string): string {
    const lower = ext.toLowerCase().replace(/^\./, '');
    return this.#formats.get(lower)?.aliasOf ?? lower;
  }

  /** Returns the media type of a format, or the one for unknown bytes. */
  mediaType(ext: string): string {
    return this.#formats.get(ext)?.mediaType ?? 'application/octet-stream';
  }

  #collect(
    operation: ProcessingOperation,
    accepts: (capability: Capability) => boolean,
    side: 'from' | 'to',
  ): string[] {
    const found = new Set<string>();
    for (const { capabilities } of this.#engines) {
      for (const capability of capabilities) {
        if (capability.operation !== operation || !accepts(capability)) continue;
        for (const ext of capability[side]) found.add(ext);
      }
    }
    return [...found].sort();
  }
}

function pairKey(operation: string, from: string, to: string): string {
  return `${operation} ${from} ${to}`;
}
