import { type OperationName, type ProcessingOperation, processingOperations } from '../operations/operations.ts';

/**
 * What engines can do, as data. Each engine folder has a catalogue module of these types and nothing native in it;
 * validation, format and option queries, the OpenAPI document and the tests all read it.
 */

export interface OptionCondition {
  name: string;
  required: boolean;
  meta: { value: string | number | boolean; label: string }[];
}

/** An option as in the spec's descriptor, plus the field's `label`, `units` and `properties`. */
export interface OptionDescriptor {
  name: string;
  label?: string;
  hint: string;
  data_type: 'boolean' | 'string' | 'number' | 'integer';
  default_value?: string;
  type?: 'enum';
  enum_values?: { value: string; hint: string; label?: string }[];
  units?: string;
  properties?: { min?: number; max?: number; pattern?: string; maxLength?: number };
  conditions?: OptionCondition[];
}

export interface Format {
  /** Extension without a dot. */
  ext: string;
  mediaType: string;
  /** The format this is another spelling of: `jpeg` is `jpg`. */
  aliasOf?: string;
  /** The format of its files, if it names their content: an `hls` is stored as a `zip`. */
  storedAs?: string;
  /** What content detection calls files of this format, if not its own name: a `doc` is a `cfb`. */
  contents?: string[];
}

/** Every input format of `from` goes to every output format of `to` with these options. */
export interface Capability {
  operation: ProcessingOperation;
  from: string[];
  to: string[];
  options: OptionDescriptor[];
}

/** The packaging of an engine's function, and its limits. */
export interface EngineResources {
  /**
   * `image`: a container image with the programs in the engine's packages.txt, invoked by a worker and without
   * permissions. `worker`: the worker performs the tasks itself, because they open no user file.
   */
  packaging: 'image' | 'worker';
  memoryMegabytes: number;
  diskMegabytes: number;
  timeoutSeconds: number;
  /** Duration of a typical conversion, for estimates until the account has had one. */
  typicalSeconds: number;
  /**
   * Maximum processor time by input size, whatever the engine estimates. Engines set lower limits by what they find in
   * a file. Without it, only the timeout limits the work.
   */
  processorTime?: { baseSeconds: number; secondsPerMegabyte: number };
  /** Maximum concurrent conversions in a deployment, so that one engine cannot exhaust the account's concurrency. */
  maxConcurrency: number;
  /**
   * Folders in layers/ that hold its programs for x86_64, for deployments that run it as a zip on the managed runtime.
   */
  layers?: string[];
  /** Maximum duration of a run on AWS Batch, for work that fits no function. Defaults to 0: there is none. */
  batchHours?: number;
  /** Maximum number of jobs at once, and their size. */
  batchConcurrency?: number;
  batchVcpus?: number;
  batchMemoryMegabytes?: number;
  batchDiskGigabytes?: number;
  /** Whether its programs use the network. Defaults to false. */
  network?: boolean;
  /** Whether it can do a run in parts, by several invocations at once. Defaults to false. */
  splits?: boolean;
  /** Command-line options of Node, if its defaults do not suit the work. */
  nodeOptions?: string;
}

/** A dependency of an engine that a machine may lack: a program, an encoder inside one, an npm package. */
export interface Component {
  /** Name to display. */
  label: string;
  /** Debian packages that install it. */
  apt?: string[];
  /** Homebrew formulae or casks that install it. */
  brew?: string[];
  /** Installed on request only, because of its size. */
  optional?: true;
}

/** Missing components of a machine: engine to component to reason, which is empty if it is not installed. */
export type Missing = Record<string, Record<string, string>>;

export interface EngineCatalogue {
  engine: string;
  summary: string;
  resources: EngineResources;
  /** Folder of its code. Defaults to `functions/engines/<engine>`. */
  folder?: string;
  /** The engine whose queue and worker it shares, since each polled queue costs money. Defaults to its own. */
  worker?: string;
  /** Decides between engines that offer the same pair: the highest number wins, and must be unique. Defaults to 0. */
  precedence?: number;
  /** Operations that it performs in addition to its capabilities, for files of any format. */
  operations?: readonly OperationName[];
  /** Whether its role may access the buckets in the context value `openBuckets`. */
  reachesOpenBuckets?: true;
  formats: Format[];
  capabilities: Capability[];
  /** Components by name. An option value that is the name of a missing component is not offered. */
  components?: Record<string, Component>;
  /** Returns the components that a pair requires, given the canonical names of its formats. */
  requires?: (operation: ProcessingOperation, from: string, to: string) => string[];
  /** Detects formats that general detection does not know, from a file's first bytes. */
  detect?: (start: Uint8Array, name: string) => string | undefined;
}

export interface Match {
  engine: string;
  capability: Capability;
}

/** A capability of an engine, and the components this machine lacks for it. */
interface Offer {
  engine: EngineCatalogue;
  capability: Capability;
  lacks: Set<string>;
  /** Whether a pair requires something that is missing. */
  isMissing: (from: string, to: string) => boolean;
  /** Created when one of its pairs is first looked up. */
  match?: Match;
}

/**
 * The union of all engines' catalogues, without pairs that require missing components. If several engines offer a pair,
 * the one with the highest precedence is used. Names and detection of formats do not depend on missing components.
 * Everything is computed on demand: most functions need little or nothing of it.
 */
export class Catalogue {
  readonly #engines: EngineCatalogue[];
  readonly #missing: Missing;
  #formats: Map<string, Format> | undefined;
  /** By operation, highest precedence first. */
  readonly #offers = new Map<ProcessingOperation, Offer[]>();

  constructor(engines: EngineCatalogue[], missing: Missing = {}) {
    this.#engines = engines;
    this.#missing = missing;
  }

  get engines(): EngineCatalogue[] {
    return this.#engines;
  }

  /** Returns whether an engine can do any of its pairs here. One without conversions needs all its components. */
  isUsable(engine: string): boolean {
    const known = this.#engines.find((each) => each.engine === engine);
    const lacks = new Set(Object.keys(this.missingOf(engine)));
    if (!known || lacks.size === 0) return known !== undefined;
    const isMissing = missingPairs(known, lacks);
    return known.capabilities.some(({ operation, from, to }) =>
      from.some((input) => to.some((output) => !isMissing(operation, input, output))),
    );
  }

  /** Returns the engine that performs an operation for any format, or undefined if there is none. */
  performerOf(operation: string): string | undefined {
    return this.#engines.find(({ operations }) => operations?.some((known) => known === operation))?.engine;
  }

  /** Returns the missing components of an engine with their reasons. */
  missingOf(engine: string): Record<string, string> {
    return this.#missing[engine] ?? {};
  }

  /** Returns the description of a format. */
  format(ext: string): Format | undefined {
    return this.#formatsByName().get(ext);
  }

  /** Finds the engine for a pair of formats; `others` are the formats of the task's other inputs. */
  find(operation: ProcessingOperation, from: string, to: string, others: string[] = []): Match | undefined {
    const offers = this.#offersOf(operation);
    const takes = ({ capability, isMissing }: Offer, input: string) =>
      capability.from.includes(input) && capability.to.includes(to) && !isMissing(input, to);
    const offer = offers.find(
      (candidate) =>
        takes(candidate, from) &&
        others.every((other) => offers.some((each) => each.engine === candidate.engine && takes(each, other))),
    );
    return offer && matchOf(offer);
  }

  /** Lists the output formats of an input format, or of all of them for `*`, sorted. */
  outputs(operation: ProcessingOperation, from: string): string[] {
    const outputs = new Set<string>();
    for (const { capability, isMissing } of this.#offersOf(operation)) {
      const inputs = capability.from.filter((input) => from === '*' || input === from);
      for (const to of capability.to)
        if (!outputs.has(to) && inputs.some((input) => !isMissing(input, to))) outputs.add(to);
    }
    return [...outputs].sort();
  }

  /** Lists the input formats of an output format, or of all of them for `*`, sorted. */
  inputs(operation: ProcessingOperation, to: string): string[] {
    const inputs = new Set<string>();
    for (const { capability, isMissing } of this.#offersOf(operation)) {
      const outputs = capability.to.filter((output) => to === '*' || output === to);
      if (outputs.length === 0) continue;
      for (const from of capability.from)
        if (!inputs.has(from) && outputs.some((output) => !isMissing(from, output))) inputs.add(from);
    }
    return [...inputs].sort();
  }

  /** Lists the options that an operation has for any pair of formats, or for any with this output format. */
  optionNames(operation: ProcessingOperation, to?: string): string[] {
    const names = this.#offersOf(operation)
      .filter(({ capability }) => to === undefined || capability.to.includes(to))
      .flatMap(({ capability }) => capability.options.map(({ name }) => name));
    return [...new Set(names)];
  }

  /** Returns whether an engine would offer a pair, or one with `*` for any format, if this machine lacked no component. */
  isWithheld(operation: ProcessingOperation, from: string, to: string): boolean {
    const includes = (formats: string[], format: string) => format === '*' || formats.includes(format);
    return this.#offersOf(operation).some(
      ({ capability, lacks }) => lacks.size > 0 && includes(capability.from, from) && includes(capability.to, to),
    );
  }

  /** Lists every format that any operation reads or writes, sorted. */
  formats(): string[] {
    return [
      ...new Set(
        processingOperations.flatMap((operation) => [...this.inputs(operation, '*'), ...this.outputs(operation, '*')]),
      ),
    ].sort();
  }

  /** Returns the canonical name of a format: `jpeg` and `JPG` are `jpg`. */
  canonical(ext: string): string {
    const lower = ext.toLowerCase().replace(/^\./, '');
    return this.#formatsByName().get(lower)?.aliasOf ?? lower;
  }

  /** Returns the media type of a format; defaults to `application/octet-stream`. */
  mediaType(ext: string): string {
    return this.#formatsByName().get(ext)?.mediaType ?? 'application/octet-stream';
  }

  /** Returns the format of the files of an output format: usually itself. */
  storedAs(ext: string): string {
    return this.#formatsByName().get(ext)?.storedAs ?? ext;
  }

  #formatsByName(): Map<string, Format> {
    if (this.#formats) return this.#formats;
    this.#formats = new Map();
    for (const format of this.#engines.flatMap(({ formats }) => formats)) {
      const { contents, ...first } = this.#formats.get(format.ext) ?? format;
      const all = new Set([...(contents ?? []), ...(format.contents ?? [])]);
      this.#formats.set(format.ext, { ...first, ...(all.size > 0 ? { contents: [...all] } : {}) });
    }
    return this.#formats;
  }

  #offersOf(operation: ProcessingOperation): Offer[] {
    const known = this.#offers.get(operation);
    if (known) return known;
    const offers = this.#engines.toSorted(byPrecedence).flatMap((engine) => {
      const lacks = new Set(Object.keys(this.missingOf(engine.engine)));
      const lacksPair = missingPairs(engine, lacks);
      const isMissing = (from: string, to: string) => lacksPair(operation, from, to);
      return engine.capabilities
        .filter((capability) => capability.operation === operation)
        .map((capability): Offer => ({ engine, capability, lacks, isMissing }));
    });
    this.#offers.set(operation, offers);
    return offers;
  }
}

function matchOf(offer: Offer): Match {
  const { engine, capability, lacks } = offer;
  offer.match ??= {
    engine: engine.engine,
    capability: lacks.size === 0 ? capability : withoutValues(capability, lacks),
  };
  return offer.match;
}

/** Returns a function that checks whether a pair of an engine requires a missing component. */
function missingPairs(
  engine: EngineCatalogue,
  lacks: Set<string>,
): (operation: ProcessingOperation, from: string, to: string) => boolean {
  const { requires } = engine;
  if (lacks.size === 0 || !requires) return () => false;
  const aliases = new Map(engine.formats.map(({ ext, aliasOf }) => [ext, aliasOf ?? ext]));
  const canonical = (ext: string) => aliases.get(ext) ?? ext;
  return (operation, from, to) =>
    requires(operation, canonical(from), canonical(to)).some((component) => lacks.has(component));
}

function byPrecedence(left: EngineCatalogue, right: EngineCatalogue): number {
  return (right.precedence ?? 0) - (left.precedence ?? 0);
}

/** Removes option values that name a missing component, and replaces a removed default by the first remaining value. */
function withoutValues(capability: Capability, lacks: Set<string>): Capability {
  const options = capability.options.map((option): OptionDescriptor => {
    const { default_value, enum_values } = option;
    if (!enum_values?.some(({ value }) => lacks.has(value))) return option;
    const left = enum_values.filter(({ value }) => !lacks.has(value));
    const [first] = left;
    const isDefaultLost = default_value !== undefined && lacks.has(default_value) && first !== undefined;
    return { ...option, enum_values: left, ...(isDefaultLost ? { default_value: first.value } : {}) };
  });
  return { ...capability, options };
}
