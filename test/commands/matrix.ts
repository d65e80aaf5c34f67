import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { findMissing } from '../../infra/local/engine-checks.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { describeMissing } from '../../shared/catalogue/missing.ts';
import { checkOptions } from '../../shared/catalogue/options.ts';
import { type ProcessingOperation, processingOperations } from '../../shared/operations/operations.ts';
import type { EngineMatrix } from '../engines/matrix.ts';
import { quietContext, runSandboxed } from '../support/sandboxed.ts';

interface Pair {
  engine: string;
  operation: ProcessingOperation;
  from: string;
  to: string;
}

const pairMs = 120_000;
const memoryBytes = 4 * 1024 ** 3;
const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Converts every advertised pair and checks each output with a reader other than its writer. Arguments select engines,
 * operations and formats.
 */
async function main(words: string[]): Promise<void> {
  const missing = await findMissing();
  for (const engine of engineCatalogues) {
    for (const { reason } of describeMissing(engine, missing)) print(`NOT OFFERED by ${engine.engine}: ${reason}`);
  }
  const catalogue = new Catalogue(engineCatalogues, missing.engines);
  const advertised = pairsOf(catalogue).filter((pair) => words.every((word) => Object.values(pair).includes(word)));
  // Aliases of a format are counted with the pair that proves them.
  const distinct = new Map(
    advertised.map((pair) => [
      JSON.stringify([pair.operation, catalogue.canonical(pair.from), catalogue.canonical(pair.to)]),
      pair,
    ]),
  );
  const folder = await mkdtemp(join(tmpdir(), 'lathe-matrix-'));
  const failures = new Map<string, string>();
  const prover = new Prover(catalogue, folder);
  const queue = [...distinct].values();
  let done = 0;
  const lane = async () => {
    for (const [key, pair] of queue) {
      const reason = await prover.prove(pair);
      done += 1;
      if (reason !== undefined) {
        failures.set(key, reason);
        print(`FAILED ${pair.engine} ${pair.operation} ${pair.from} → ${pair.to}: ${reason.split('\n')[0]}`);
      }
      if (done % 250 === 0) print(`${done} of ${distinct.size} pairs tried, ${failures.size} failed`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  prover.stop();
  await rm(folder, { recursive: true, force: true });

  const failed = advertised.filter((pair) =>
    failures.has(JSON.stringify([pair.operation, catalogue.canonical(pair.from), catalogue.canonical(pair.to)])),
  );
  const formats = new Set(advertised.flatMap(({ from, to }) => [from, to]));
  for (const engine of new Set(advertised.map((pair) => pair.engine))) {
    const own = advertised.filter((pair) => pair.engine === engine);
    print(
      `${engine}: ${own.length} pairs, ${own.length - failed.filter((pair) => pair.engine === engine).length} passed`,
    );
  }
  print(
    `${formats.size} formats; pairs advertised ${advertised.length}, passed ${advertised.length - failed.length}, failed ${failed.length}`,
  );
  print(`${advertised.length - failed.length} passed, ${failed.length} failed`);
  process.exit(failed.length > 0 ? 1 : 0);
}

function pairsOf(catalogue: Catalogue): Pair[] {
  return processingOperations.flatMap((operation) =>
    catalogue.inputs(operation, '*').flatMap((from) =>
      catalogue.outputs(operation, from).flatMap((to) => {
        const match = catalogue.find(operation, from, to);
        return match ? [{ engine: match.engine, operation, from, to }] : [];
      }),
    ),
  );
}

/** Runs pairs in the sandboxes of their engines, with cached samples. */
class Prover {
  readonly #catalogue: Catalogue;
  readonly #folder: string;
  readonly #samples = new Map<string, Promise<string>>();
  readonly #idle = new Map<string, Sandbox[]>();

  constructor(catalogue: Catalogue, folder: string) {
    this.#catalogue = catalogue;
    this.#folder = folder;
  }

  /** Returns why a pair fails, or undefined if it holds. */
  async prove(pair: Pair): Promise<string | undefined> {
    const sandbox = this.#idle.get(pair.engine)?.pop() ?? sandboxOf(pair.engine);
    try {
      await this.#run(pair, sandbox);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#idle.set(pair.engine, [...(this.#idle.get(pair.engine) ?? []), sandbox]);
    }
  }

  stop(): void {
    for (const sandbox of [...this.#idle.values()].flat()) sandbox.stop();
  }

  async #run(pair: Pair, sandbox: Sandbox): Promise<void> {
    const from = this.#catalogue.canonical(pair.from);
    const to = this.#catalogue.canonical(pair.to);
    const matrix = await matrixOf(pair.engine);
    const path = await this.#sample(matrix, from);
    const { size } = await stat(path);
    const input = { path, name: `sample.${from}`, format: from, size };
    const match = this.#catalogue.find(pair.operation, from, to);
    const { values, errors } = checkOptions(
      match?.capability.options ?? [],
      matrix.options?.(pair.operation, from, to) ?? {},
    );
    if (Object.keys(errors).length > 0) throw new Error(`The matrix gives wrong options: ${JSON.stringify(errors)}`);
    const { outputs } = await runSandboxed(
      sandbox,
      {
        operation: pair.operation,
        inputs: pair.operation === 'merge' ? [input, input] : [input],
        outputFormat: to,
        options: values,
      },
      { ...quietContext(), signal: AbortSignal.timeout(pairMs) },
    );
    if (outputs.length === 0) throw new Error('There is no output.');
    for (const output of outputs) await matrix.verify(output, { path, format: from }, pair.operation);
  }

  #sample(matrix: EngineMatrix, format: string): Promise<string> {
    const key = `${matrix.engine}-${format}`;
    const made = this.#samples.get(key) ?? this.#make(matrix, format, join(this.#folder, key));
    this.#samples.set(key, made);
    return made;
  }

  async #make(matrix: EngineMatrix, format: string, folder: string): Promise<string> {
    await mkdir(folder);
    return matrix.sample(format, folder);
  }
}

function sandboxOf(engine: string): Sandbox {
  return new Sandbox({ module: moduleOf(engine), memoryBytes, network: engine === 'webpage' });
}

function moduleOf(engine: string): URL {
  return new URL(`../../functions/engines/${engine}/run.ts`, import.meta.url);
}

async function matrixOf(engine: string): Promise<EngineMatrix> {
  const { matrix }: { matrix: EngineMatrix } = await import(
    new URL(`../engines/${engine}/matrix.ts`, import.meta.url).href
  );
  return matrix;
}

await main(process.argv.slice(2));
