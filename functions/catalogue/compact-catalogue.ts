import type { Capability, EngineCatalogue, Format, OptionDescriptor } from '../../shared/catalogue/catalogue.ts';

/** The large parts of a catalogue, formats and capabilities, as JSON. */
export interface CompactTables {
  formats: string;
  capabilities: string;
}

/** A catalogue without its tables and its code. */
export type CatalogueHead = Omit<EngineCatalogue, 'formats' | 'capabilities' | 'requires' | 'detect'>;

type CatalogueCode = Pick<EngineCatalogue, 'requires' | 'detect'>;

/** Capabilities as rows of indexes: formats and options repeat in hundreds of them. */
interface CompactCapabilities {
  options: OptionDescriptor[];
  /** Lists of options, by index. */
  optionLists: number[][];
  formatLists: string[][];
  /** Operation, and the indexes of its inputs, outputs and options. */
  rows: [Capability['operation'], number, number, number][];
}

/** Returns the tables of a catalogue in a form that loads fast. */
export function compactTables({ formats, capabilities }: EngineCatalogue): CompactTables {
  const options = new Index<OptionDescriptor>();
  const optionLists = new Index<number[]>();
  const formatLists = new Index<string[]>();
  const rows = capabilities.map((each): CompactCapabilities['rows'][number] => [
    each.operation,
    formatLists.of(each.from),
    formatLists.of(each.to),
    optionLists.of(each.options.map((option) => options.of(option))),
  ]);
  const compact: CompactCapabilities = {
    options: options.values,
    optionLists: optionLists.values,
    formatLists: formatLists.values,
    rows,
  };
  return { formats: JSON.stringify(formats), capabilities: JSON.stringify(compact) };
}

/** Numbers values in order of appearance; equal values share a number. */
class Index<Value> {
  readonly values: Value[] = [];
  readonly #places = new Map<string, number>();

  of(value: Value): number {
    const text = JSON.stringify(value);
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.values.length);
    return this.values.push(value) - 1;
  }
}

/** Returns the catalogue of compact tables. They are parsed on demand: few functions need them. */
export function expandCatalogue(
  head: CatalogueHead,
  read: (table: keyof CompactTables) => string,
  code: CatalogueCode,
): EngineCatalogue {
  let formats: Format[] | undefined;
  let capabilities: Capability[] | undefined;
  return {
    ...head,
    get formats() {
      formats ??= readFormats(read('formats'));
      return formats;
    },
    get capabilities() {
      capabilities ??= readCapabilities(read('capabilities'));
      return capabilities;
    },
    ...code,
  };
}

function readFormats(text: string): Format[] {
  return JSON.parse(text);
}

function readCapabilities(text: string): Capability[] {
  const { options, optionLists, formatLists, rows }: CompactCapabilities = JSON.parse(text);
  const lists = optionLists.map((list) => list.flatMap((index) => options[index] ?? []));
  return rows.map(([operation, from, to, list]) => ({
    operation,
    from: formatLists[from] ?? [],
    to: formatLists[to] ?? [],
    options: lists[list] ?? [],
  }));
}
