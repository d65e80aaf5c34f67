import { BrokenRun } from '../../invocation/errors.ts';
import type { PlannedPart } from './plan-parts.ts';
import type { FinishedPart } from './stored-runs.ts';

/** How often a part is run before its run fails. */
const maxTries = 3;
/** A chunk, or range of pages, that takes this many times the median of its kind is run once more. */
const stragglerFactor = 3;
/** Fewer finished chunks say little about the others. */
const minFinished = 3;
/** Time that even the shortest chunk may take. */
const minStragglerMs = 2_000;

interface ActiveRun {
  began: number;
  percent: number;
}

interface PartState extends PlannedPart {
  /** Runs in progress, by their number. */
  active: Map<number, ActiveRun>;
  /** How many runs have begun. */
  begun: number;
  failures: number;
  isRepeated: boolean;
  finished?: FinishedPart;
}

/** The states of the parts of a split run in one attempt. Decides which of them to run next. */
export class PartStates {
  readonly #parts: PartState[] = [];
  readonly #known: ReadonlyMap<string, FinishedPart>;
  /** How long parts took that finished in this attempt, by the kind of part. */
  readonly #took: Partial<Record<PlannedPart['request']['kind'], number[]>> = {};
  #later: number[];
  #hasFinishedAny = false;

  /** `later` has the weights of parts that are added when these have finished. */
  constructor(parts: PlannedPart[], finished: ReadonlyMap<string, FinishedPart>, later: number[] = []) {
    this.#known = finished;
    this.#later = later;
    this.#add(parts);
  }

  /** Adds the parts that follow from the results of those before. */
  add(parts: PlannedPart[]): void {
    this.#later = [];
    this.#add(parts);
  }

  #add(parts: PlannedPart[]): void {
    this.#parts.push(
      ...parts.map((part): PartState => {
        const known = this.#known.get(part.name);
        return {
          ...part,
          active: new Map(),
          begun: 0,
          failures: 0,
          isRepeated: false,
          ...(known && { finished: known }),
        };
      }),
    );
  }

  get isDone(): boolean {
    return this.#parts.every(({ finished }) => finished !== undefined);
  }

  get total(): number {
    return this.#parts.length + this.#later.length;
  }

  get done(): number {
    return this.#parts.filter(({ finished }) => finished !== undefined).length;
  }

  /** Whether a part has finished in this attempt. */
  get hasFinishedAny(): boolean {
    return this.#hasFinishedAny;
  }

  /** Runs in progress, including second runs of the same part. */
  get active(): number {
    return this.#parts.reduce((sum, { active }) => sum + active.size, 0);
  }

  /** Parts that no engine works on yet. */
  get waiting(): number {
    return this.#parts.filter(isWaiting).length;
  }

  /** The finished share of the work, from 0 to 1. */
  get share(): number {
    const all = [...this.#parts.map(({ weight }) => weight), ...this.#later].reduce((sum, weight) => sum + weight, 0);
    return this.#parts.reduce((sum, part) => sum + part.weight * shareOf(part), 0) / all;
  }

  /** The usual time of a part in milliseconds, of the slowest kind; undefined until some have finished. */
  get median(): number | undefined {
    const kinds = new Set(this.#parts.map(({ request }) => request.kind));
    const known = [...kinds].flatMap((kind) => this.#medianOf(kind) ?? []);
    return known.length > 0 ? Math.max(...known) : undefined;
  }

  #medianOf(kind: PlannedPart['request']['kind']): number | undefined {
    const took = this.#took[kind] ?? [];
    return took.length < minFinished ? undefined : took.toSorted((one, other) => one - other)[took.length >> 1];
  }

  /** Returns the bytes of the outputs so far, without those of a part. */
  bytes(except?: string): number {
    return this.#parts.reduce((sum, { name, finished }) => sum + (name === except ? 0 : (finished?.size ?? 0)), 0);
  }

  /** Returns the engine time of each part once: reported if it has finished, and else what has passed. */
  usedMs(now: number): number {
    return this.#parts.reduce((sum, { finished, active }) => {
      const began = Math.min(now, ...[...active.values()].map((run) => run.began));
      return sum + (finished?.ms ?? now - began);
    }, 0);
  }

  /** Returns the parts to run next in as many places: those that wait, then chunks that take too long. */
  next(places: number, now: number): PlannedPart[] {
    const room = Math.max(0, places - this.active);
    const isStraggler = ({ request, finished, active, isRepeated }: PartState) => {
      const late = stragglerFactor * (this.#medianOf(request.kind) ?? Number.POSITIVE_INFINITY);
      return (
        request.kind !== 'sound' &&
        !finished &&
        !isRepeated &&
        [...active.values()].some(({ began }) => now - began > Math.max(minStragglerMs, late))
      );
    };
    return [...this.#parts.filter(isWaiting), ...this.#parts.filter(isStraggler)].slice(0, room);
  }

  /** Begins a run of a part, and returns its number. */
  begin(name: string, now: number): number {
    const part = this.#part(name);
    if (part.active.size > 0) part.isRepeated = true;
    part.begun += 1;
    part.active.set(part.begun, { began: now, percent: 0 });
    return part.begun;
  }

  progress(name: string, run: number, percent: number): void {
    const active = this.#part(name).active.get(run);
    if (active) active.percent = Math.max(active.percent, percent);
  }

  /** Records the result of a run. The first one of a part counts. */
  finish(name: string, run: number, result: FinishedPart, now: number): void {
    const part = this.#part(name);
    const began = part.active.get(run)?.began ?? now;
    part.active.delete(run);
    if (part.finished) return;
    part.finished = result;
    this.#hasFinishedAny = true;
    const took = this.#took[part.request.kind] ?? [];
    took.push(now - began);
    this.#took[part.request.kind] = took;
  }

  /** Records that a run ended without a result. Throws the error if the part is not run again. */
  fail(name: string, run: number, error: unknown): void {
    const part = this.#part(name);
    part.active.delete(run);
    if (part.finished) return;
    part.failures += 1;
    if (!(error instanceof BrokenRun) || part.failures >= maxTries) throw error;
  }

  /** Takes back a run that has not begun, because no engine was free. */
  takeBack(name: string, run: number): void {
    this.#part(name).active.delete(run);
  }

  /** Returns the output of a part, if it has finished. */
  output(name: string): FinishedPart | undefined {
    return this.#parts.find((part) => part.name === name)?.finished;
  }

  /** Returns the outputs of parts in the order of the plan. */
  outputs(kind: PlannedPart['request']['kind']): FinishedPart[] {
    return this.#parts.flatMap(({ request, finished }) => (request.kind === kind && finished ? [finished] : []));
  }

  #part(name: string): PartState {
    const part = this.#parts.find((each) => each.name === name);
    if (!part) throw new Error(`There is no part ${name}.`);
    return part;
  }
}

function isWaiting({ finished, active }: PartState): boolean {
  return !finished && active.size === 0;
}

function shareOf({ finished, active }: PartState): number {
  return finished ? 1 : Math.max(0, ...[...active.values()].map(({ percent }) => percent)) / 100;
}
