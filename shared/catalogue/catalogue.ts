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
  /**
   * `image`: a container image with the programs in the engine's packages.txt, invoked by a worker and without any
   * permission of its own. `worker`: its worker performs the tasks itself, because they open no file of a user.
   */
  packaging: 'image' | 'worker';
  memoryMegabytes: number;
  diskMegabytes: number;
  timeoutSeconds: number;
  /** Maximum concurrent conversions in a deployment, so that one engine cannot use up the account's concurrency. */
  maxConcurrency: number;
  /** Folders in layers/ that hold its programs for x86_64, where the function is then a zip on the managed runtime instead. */
  layers?: string[];
  /** Whether its programs load something over the network themselves. Defaults to false. */
  network?: boolean;
  /** Command-line options of Node, where its defaults do not suit the work. */
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

/** Missing components of a machine: engine to component to the reason, which is empty if it is not installed. */
export type Missing = Record<string, Record<string, string>>;

export interface EngineCatalogue {
  engine: string;
  summary: string;
  resources: EngineResources;
  /** Folder of its code. Defaults to `functions/engines/<engine>`. */
  folder?: string;
  /**
   * Decides between engines that offer the same pair: the highest number wins. Defaults to 0. No two engines with the
   * same number may offer the same pair.
   */
  precedence?: number;
  /** Operations that it performs in addition to its capabilities, for files of any format. */
  operations?: readonly OperationName[];
  /** Whether its role may access the buckets in the context value `openBuckets`. */
  reachesOpenBuckets?: true;
  formats: Format[];
  capabilities: Capability[];
  /** Components by name. An option value that is the name of a missing component is not offered. */
  components?: Record<string, Component>;
  /** Returns the components that a pair of the capabilities requires; called with the formats' canonical names. */
  requires?: (operation: ProcessingOperation, from: string, to: string) => string[];
  /** Detects formats that the general detection does not know, from a file's first bytes. */
  detect?: (start: Uint8Array, name: string) => string | undefined;
}

export interface Match {
  engine: string;
  capability: Capability;
}

type Targets = Map<string, Match>;

/** A capability of an engine, and what the machine lacks of what it may require. */
interface Offer {
  engine: EngineCatalogue;
  capability: Capability;
  lacks: Set<string>;
  /** Made when a pair of it is first asked for. */
  match?: Match;
}

/**
 * The union of the catalogues of all engines, without the pairs that require missing components. Of several engines that
 * offer a pair, the one with the highest precedence is used. Names and detection of formats do not depend on what is
 * missing.
 */
export class Catalogue {
  readonly #engines: EngineCatalogue[];
  readonly #missing: Missing;
  readonly #formats = new Map<string, Format>();
  /** By operation, then by input format, those of the highest precedence first. */
  readonly #offers = new Map<ProcessingOperation, Map<string, Offer[]>>();
  /** By operation and input format, as far as asked for: of thousands of pairs, a function looks at a few. */
  readonly #targets = new Map<string, Targets>();

  constructor(engines: EngineCatalogue[], missing: Missing = {}) {
    this.#engines = engines;
    this.#missing = missing;
    for (const format of engines.flatMap(({ formats }) => formats)) {
      if (!this.#formats.has(format.ext)) this.#formats.set(format.ext, format);
    }
    for (const engine of engines.toSorted(byPrecedence)) {
      const lacks = new Set(Object.keys(this.missingOf(engine.engine)));
      for (const capability of engine.capabilities) this.#add({ engine, capability, lacks });
    }
  }

  get engines(): EngineCatalogue[] {
    return this.#engines;
  }

  /** Returns whether an engine can do any of its pairs here; one without conversions needs everything it lists. */
  isUsable(engine: string): boolean {
    const known = this.#engines.find((each) => each.engine === engine);
    const lacks = new Set(Object.keys(this.missingOf(engine)));
    if (!known || known.capabilities.length === 0) return known !== undefined && lacks.size === 0;
    return known.capabilities.some((capability) => hasPair({ engine: known, capability, lacks }));
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
    return this.#formats.get(ext);
  }

  /** Finds the engine that performs an operation for a pair of formats. */
  find(operation: ProcessingOperation, from: string, to: string): Match | undefined {
    return this.#targetsOf(operation, from).get(to);
  }

  /** Lists the output formats of an input format, or all of them for `*`, sorted. */
  outputs(operation: ProcessingOperation, from: string): string[] {
    const inputs = from === '*' ? this.#inputsOf(operation) : [from];
    return [...new Set(inputs.flatMap((input) => [...this.#targetsOf(operation, input).keys()]))].sort();
  }

  /** Lists the input formats that can become an output format, or all of them for `*`, sorted. */
  inputs(operation: ProcessingOperation, to: string): string[] {
    const suits = (targets: Targets) => (to === '*' ? targets.size > 0 : targets.has(to));
    return this.#inputsOf(operation)
      .filter((from) => suits(this.#targetsOf(operation, from)))
      .sort();
  }

  /** Lists every format that some operation reads or writes, sorted. */
  formats(): string[] {
    return [
      ...new Set(
        processingOperations.flatMap((operation) => [...this.inputs(operation, '*'), ...this.outputs(operation, '*')]),
      ),
    ].sort();
  }

  /** Returns the one spelling of a format's name: `jpeg` and `JPG` are `jpg`. */
  canonical(ext: string): string {
    const lower = ext.toLowerCase().replace(/^\./, '');
    return this.#formats.get(lower)?.aliasOf ?? lower;
  }

  /** Returns the media type of a format; defaults to `application/octet-stream`. */
  mediaType(ext: string): string {
    return this.#formats.get(ext)?.mediaType ?? 'application/octet-stream';
  }

  /** Lists the input formats that engines name for an operation, whether or not anything is missing. */
  #inputsOf(operation: ProcessingOperation): string[] {
    return [...(this.#offers.get(operation)?.keys() ?? [])];
  }

  #add(offer: Offer): void {
    const { operation, from } = offer.capability;
    const inputs = this.#offers.get(operation) ?? new Map<string, Offer[]>();
    this.#offers.set(operation, inputs);
    for (const format of from) {
      const offers = inputs.get(format);
      if (offers) offers.push(offer);
      else inputs.set(format, [offer]);
    }
  }

  #targetsOf(operation: ProcessingOperation, from: string): Targets {
    const key = `${operation} ${from}`;
    const known = this.#targets.get(key);
    if (known) return known;
    const targets: Targets = new Map();
    for (const offer of this.#offers.get(operation)?.get(from) ?? []) {
      const isMissing = missingPairs(offer);
      for (const to of offer.capability.to) {
        if (!targets.has(to) && !isMissing(from, to)) targets.set(to, matchOf(offer));
      }
    }
    this.#targets.set(key, targets);
    return targets;
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

function hasPair(offer: Offer): boolean {
  const isMissing = missingPairs(offer);
  return offer.capability.from.some((from) => offer.capability.to.some((to) => !isMissing(from, to)));
}

/** Returns the check of whether a pair requires something that is missing. */
function missingPairs({ engine, capability, lacks }: Offer): (from: string, to: string) => boolean {
  const { requires } = engine;
  if (lacks.size === 0 || !requires) return () => false;
  const aliases = new Map(engine.formats.map(({ ext, aliasOf }) => [ext, aliasOf ?? ext]));
  const canonical = (ext: string) => aliases.get(ext) ?? ext;
  return (from, to) =>
    requires(capability.operation, canonical(from), canonical(to)).some((component) => lacks.has(component));
}

function byPrecedence(left: EngineCatalogue, right: EngineCatalogue): number {
  return (right.precedence ?? 0) - (left.precedence ?? 0);
}

/** Removes option values that name a missing component; a removed default is replaced by the first value left. */
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
