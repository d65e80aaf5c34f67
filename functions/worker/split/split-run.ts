import { deleteKeys } from '../../../shared/aws/objects.ts';
import { partRun, postedKey } from '../../../shared/files/keys.ts';
import { writeMetrics } from '../../../shared/metrics.ts';
import { backoff, retry } from '../../../shared/retry.ts';
import type { JsonObject, StoredFile } from '../../../shared/tasks/task.ts';
import { catalogue, engineCatalogues } from '../../catalogue/catalogues.ts';
import { EngineError } from '../../engines/runtime/engine.ts';
import type { EngineResponse, PartRequest, Survey } from '../../engines/runtime/protocol.ts';
import { BrokenRun, Unfinished } from '../../invocation/errors.ts';
import { keepOutputs, storedOf } from '../../invocation/keep-outputs.ts';
import { formatsOf, type RunPlan } from '../../invocation/plan-run.ts';
import { settings } from '../../wiring/settings.ts';
import { lastResponse, type RunNames, requestOf, revoke, unlessAborted } from '../engine-response.ts';
import type { Run, RunResult } from '../worker.ts';
import { PartStates } from './part-states.ts';
import { Places } from './places.ts';
import { isCandidate, partsOf, planParts, type SplitPlan, soundPart } from './plan-parts.ts';
import { type PartsWork, runParts } from './run-parts.ts';
import { laterWeights, nextStep } from './share-bits.ts';
import { type FinishedPart, keepPart, keepPlan, readSplit } from './stored-runs.ts';

/** Runs of a survey or join that break off before the attempt does. */
const maxTries = 3;
const firstBackoffMs = 500;
/** Progress at the end of the survey and of the parts; the join has the rest. */
const surveyedPercent = 2;
const encodedPercent = 92;
const joinedPercent = 99;
/** Bytes that a join reads and writes in a second, at the least. */
const joinBytesPerSecond = 20_000_000;

type Done = Extract<EngineResponse, { type: 'done' }>;

/** What the survey of a run that is not split says about it. */
export interface WholeRun {
  details: JsonObject;
  estimatedSeconds: number;
}

/**
 * Performs a run in parts if that is worth it: surveys the source, encodes its chunks and its sound by many invocations of the
 * engine at once, and has one join them. Returns details of the result if one engine is to do the whole run, and undefined if
 * the run was no candidate.
 */
export async function runSplit(engine: string, run: Run, plan: RunPlan): Promise<RunResult | WholeRun | undefined> {
  const { splits = false } = engineCatalogues.find((each) => each.engine === engine)?.resources ?? {};
  if (!splits || settings.splitAtOnce === 0) return undefined;
  const types = [plan.files[0]?.format ?? '', plan.outputFormat].map((format) => catalogue.mediaType(format));
  if (!isCandidate(plan, types, settings.splitSeconds)) return undefined;
  return new SplitRun(engine, run, plan).perform();
}

class SplitRun {
  readonly #engine: string;
  readonly #run: Run;
  readonly #plan: RunPlan;
  readonly #began = Date.now();
  #firstPercent: number | undefined;
  #maxPercent = 0;

  constructor(engine: string, run: Run, plan: RunPlan) {
    this.#engine = engine;
    this.#run = run;
    this.#plan = plan;
  }

  async perform(): Promise<RunResult | WholeRun> {
    const { task, attempt } = this.#run;
    // Engines of a worker that died may still be running.
    if (attempt > 1) await this.#revoke(attempt - 1);
    const { plan: known, parts: finished } = await readSplit(task);
    if (known !== undefined) return this.#runParts(JSON.parse(known), finished);
    const { survey, engineMs } = await this.#survey();
    const split = planParts(survey, engineMs, settings.splitSeconds);
    if (split) return this.#runParts(JSON.parse(await keepPlan(task, JSON.stringify(split))), finished);
    this.#run.logger.info('the run is not split', { reason: survey.whole, seconds: survey.seconds });
    return {
      estimatedSeconds: survey.seconds,
      details: { ...estimateOf(survey.seconds), ...(survey.whole ? { split_reason: survey.whole } : {}) },
    };
  }

  async #survey(): Promise<{ survey: Survey; engineMs: number }> {
    const { attempt } = this.#run;
    const names = { output: partRun(attempt, 'survey', 1), revoked: attempt };
    const { survey, engineMs } = await this.#repeated({ kind: 'survey' }, this.#plan.files, names, (percent) =>
      this.#run.progress((percent * surveyedPercent) / 100),
    );
    if (!survey) throw new Error('A survey was parsed without its content.');
    return { survey, engineMs };
  }

  async #runParts(split: SplitPlan, finished: ReadonlyMap<string, FinishedPart>): Promise<RunResult> {
    const run = this.#run;
    const states = new PartStates(partsOf(split), finished, laterWeights(split));
    let joinMs = 0;
    let joinBegan: number | undefined;
    run.usedMs = () => {
      const now = Date.now();
      return split.surveyMs + states.usedMs(now) + (joinMs || (joinBegan === undefined ? 0 : now - joinBegan));
    };
    run.wantedMs = Math.max(run.usedMs(), split.seconds * 1_000);
    run.logger.info('the run is split', { parts: states.total, finished: states.done, seconds: split.seconds });
    const places = new Places(run.task, settings.splitAtOnce);
    const report = () => this.#report(surveyedPercent + states.share * (encodedPercent - surveyedPercent), states);
    report();
    let chunks: string[];
    try {
      chunks = await encode(split, states, {
        perform: (part, count, progress) => this.#performPart(part.name, part.request, count, progress),
        places: async (active, waiting) =>
          Math.min(await places.renew(active, waiting, Date.now()), this.#affordable(active)),
        revoke: () => revoke(run.task.id, run.attempt),
        onChange: report,
        signal: run.signal,
        deadline: run.deadline,
        partMs: settings.splitSeconds * 1_000,
      });
    } finally {
      // If this fails, the claim stops counting after a few seconds.
      await places.end(Date.now()).catch((error) => run.logger.warn('places could not be given up', { error }));
    }
    const parts = [...chunks, ...(split.sound ? [soundPart] : [])].flatMap((name) => states.output(name) ?? []);
    this.#requireTimeToJoin(states, parts);
    joinBegan = Date.now();
    const done = await this.#join(split, states, parts);
    joinMs = done.engineMs;
    run.engine = { ms: run.usedMs(), formats: formatsOf(this.#plan) };
    writeEstimate(split.seconds, (run.engine.ms - split.surveyMs - joinMs) / 1_000, this.#engine);
    const files = await keepOutputs(run, storedOf(done.outputs), this.#plan.maxOutputBytes);
    if (split.size) requireSize(split.size.bytes, files[0]?.size ?? 0);
    return {
      files,
      details: { ...done.details, ...estimateOf(split.seconds, states.total) },
      leftovers: done.outputs.map((_, index) => postedKey(run.task.id, run.attempt, index)),
    };
  }

  /** Runs a part, copies its output out of the reach of its form, and adds it to the set of the task. */
  async #performPart(
    name: string,
    part: PartRequest,
    count: number,
    progress: (percent: number) => void,
  ): Promise<FinishedPart> {
    const { task, attempt, signal } = this.#run;
    const output = partRun(attempt, name, count);
    const done = await this.#invoke(part, this.#plan.files, { output, revoked: attempt }, progress);
    const plan = this.#plan;
    const [file] = await keepOutputs({ task, attempt: output, signal }, storedOf(done.outputs), plan.maxOutputBytes);
    if (!file) throw new Error(`The part ${name} has no output.`);
    const own = { key: file.key, size: file.size, format: file.format, ms: done.engineMs };
    const kept = await keepPart(task, name, own);
    await deleteKeys([postedKey(task.id, output, 0), ...(kept.key === own.key ? [] : [own.key])]);
    return kept;
  }

  async #join(split: SplitPlan, states: PartStates, parts: FinishedPart[]): Promise<Done> {
    const { attempt } = this.#run;
    const starts = split.chunks.map(({ from }) => from);
    const inputs = [
      ...this.#plan.files,
      ...parts.map((part, index) => partFile(index < starts.length ? `chunk-${index}` : soundPart, part)),
    ];
    const part = { kind: 'join', starts, sound: split.sound } as const;
    const names = { output: attempt, revoked: `${attempt}/join` } as const;
    return this.#repeated(part, inputs, names, (percent) =>
      this.#report(encodedPercent + (percent * (joinedPercent - encodedPercent)) / 100, states),
    );
  }

  /** Repeats a part that nothing else runs next to, if its engine breaks off. */
  #repeated(
    part: PartRequest,
    files: StoredFile[],
    names: RunNames,
    progress: (percent: number) => void,
  ): Promise<Done> {
    const { signal, task } = this.#run;
    const work = retry(
      () => this.#invoke(part, files, names, progress),
      (error, count) => {
        if (!(error instanceof BrokenRun) || count === maxTries) throw error;
        return backoff(count, firstBackoffMs);
      },
      signal,
    );
    return unlessAborted(signal, work, () => revoke(task.id, names.revoked));
  }

  async #invoke(
    part: PartRequest,
    files: StoredFile[],
    names: RunNames,
    progress: (percent: number) => void,
  ): Promise<Done> {
    // A survey stores nothing.
    const maxOutputBytes = part.kind === 'survey' ? 1 : this.#plan.maxOutputBytes;
    const request = await requestOf(this.#run, { ...this.#plan, files, part, maxOutputBytes }, names);
    const response = await lastResponse(this.#engine, request, this.#run.signal, progress);
    if (response.type === 'refused') throw new EngineError(response.msg, { detail: response.detail });
    return response;
  }

  /** Returns how many parts the reserved engine time allows, and at least one. */
  #affordable(active: number): number {
    const { task, usedMs } = this.#run;
    const { reservedMs } = task.meter ?? {};
    if (reservedMs === undefined || !usedMs) return Number.POSITIVE_INFINITY;
    const more = Math.floor((reservedMs - usedMs()) / (settings.splitSeconds * 1_000));
    return Math.max(1, active + more);
  }

  /** Leaves the join to the next attempt if this one has too little time left for it. */
  #requireTimeToJoin(states: PartStates, parts: FinishedPart[]): void {
    const bytes = parts.reduce((sum, { size }) => sum + size, 0);
    const source = this.#plan.files.reduce((sum, { size }) => sum + size, 0);
    const ms = (2 * settings.splitSeconds + (2 * bytes + source) / joinBytesPerSecond) * 1_000;
    if (states.hasFinishedAny && Date.now() + ms > this.#run.deadline) throw new Unfinished();
  }

  #report(percent: number, states: PartStates): void {
    this.#firstPercent ??= percent;
    // Chunks that are encoded again are further work.
    this.#maxPercent = Math.max(this.#maxPercent, percent);
    const gained = percent - this.#firstPercent;
    const elapsed = (Date.now() - this.#began) / 1_000;
    const secondsLeft = gained > 0 ? Math.ceil((elapsed * (100 - percent)) / gained) : undefined;
    this.#run.progress(this.#maxPercent, {
      total: states.total,
      done: states.done,
      running: Math.min(states.active, states.total - states.done),
      ...(secondsLeft === undefined ? {} : { secondsLeft }),
    });
  }

  #revoke(attempt: number): Promise<unknown> {
    const { id } = this.#run.task;
    return Promise.all([revoke(id, attempt), revoke(id, `${attempt}/join`)]);
  }
}

/** Runs parts, and those that follow from their sizes. Returns the names of the chunks to join. */
async function encode(split: SplitPlan, states: PartStates, work: PartsWork): Promise<string[]> {
  for (;;) {
    await runParts(states, work);
    const next = nextStep(split, (name) => states.output(name)?.size);
    if ('chunks' in next) return next.chunks;
    if ('minBytes' in next) throw tooLarge(split.size?.bytes ?? 0, next.minBytes);
    states.add(next.parts);
    work.onChange();
  }
}

/** Throws if a joined file is larger than requested, which its parts were not. */
function requireSize(maxBytes: number, bytes: number): void {
  if (bytes > maxBytes) throw tooLarge(maxBytes, bytes);
}

function tooLarge(maxBytes: number, minBytes: number): EngineError {
  const [wanted, smallest] = [maxBytes, minBytes].map((bytes) => Math.floor(bytes).toLocaleString('en'));
  return new EngineError(
    `The file cannot be compressed to ${wanted} bytes: the smallest possible size is about ${smallest} bytes.`,
  );
}

function partFile(name: string, { key, size, format }: FinishedPart): StoredFile {
  return { key, name: `${name}.${format}`, size, format, mediaType: catalogue.mediaType(format), token: '' };
}

function estimateOf(seconds: number, parts?: number): JsonObject {
  const conversionSeconds = Math.round(seconds);
  return { estimate: { conversionSeconds, ...(parts === undefined ? {} : { parts }) } };
}

/** Writes by how much an estimate was wrong, in percent of it. */
export function writeEstimate(estimatedSeconds: number, seconds: number, engine: string): void {
  if (estimatedSeconds <= 0) return;
  const error = (100 * Math.abs(seconds - estimatedSeconds)) / estimatedSeconds;
  writeMetrics({ EstimateError: error }, {}, { message: 'the run was estimated', engine, estimatedSeconds, seconds });
}
