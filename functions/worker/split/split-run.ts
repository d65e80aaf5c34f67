import { deleteKeys } from '../../../shared/aws/objects.ts';
import { partRun, postedKey, type Revocable } from '../../../shared/files/keys.ts';
import { totalBytes } from '../../../shared/files/total-bytes.ts';
import { backoff, retry } from '../../../shared/retry.ts';
import { diskBytes, isIndexedVideo } from '../../../shared/tasks/limits.ts';
import type { JsonObject, StoredFile } from '../../../shared/tasks/task.ts';
import { catalogue, engineCatalogues } from '../../catalogue/catalogues.ts';
import { bytesOf } from '../../engines/runtime/byte-ranges.ts';
import { EngineError } from '../../engines/runtime/engine.ts';
import type { EngineResponse, PartRequest, SourceRead } from '../../engines/runtime/protocol.ts';
import { BrokenRun, Unfinished } from '../../invocation/errors.ts';
import { keepOutputs } from '../../invocation/keep-outputs.ts';
import type { LargeUpload } from '../../invocation/large-upload.ts';
import { formatsOf, type RunPlan } from '../../invocation/plan-run.ts';
import { settings } from '../../wiring/settings.ts';
import {
  keepResult,
  lastResponse,
  type RunNames,
  requestOf,
  revoke,
  unlessAborted,
  withLargeUpload,
} from '../engine-response.ts';
import { writeEstimate } from '../learn-speed.ts';
import type { Run, RunResult } from '../worker.ts';
import { PageFiles } from './page-files.ts';
import { PartStates } from './part-states.ts';
import { Places } from './places.ts';
import { mayBeLong, type PagesPlan, partsOfPages, planPages, recognition } from './plan-pages.ts';
import {
  isCandidate,
  minParts,
  type PlannedPart,
  partsOf,
  planParts,
  readOf,
  type SplitPlan,
  soundPart,
} from './plan-parts.ts';
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

/** A larger output is stored in parts, several at once and without the copy that follows a form. */
const maxJoinedFormBytes = 64 * 1024 ** 2;

/** The share of the disk that inputs leave at the least. */
const minRoom = 0.1;

/** Files of a part, and what it fetches of the first one. */
interface PartInputs {
  files: StoredFile[];
  read: SourceRead;
}

type Done = Extract<EngineResponse, { type: 'done' }>;
type JoinRequest = Extract<PartRequest, { kind: 'join' }>;

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
  const resources = engineCatalogues.find((each) => each.engine === engine)?.resources;
  if (!resources?.splits || settings.splitAtOnce === 0) return undefined;
  const types = [plan.files[0]?.format ?? '', plan.outputFormat].map((format) => catalogue.mediaType(format));
  if (!mayBeLong(plan, types, settings.splitSeconds) && !isCandidate(plan, types, settings.splitSeconds))
    return undefined;
  return new SplitRun(engine, run, plan, types, diskBytes(resources)).perform();
}

class SplitRun {
  readonly #engine: string;
  readonly #run: Run;
  readonly #plan: RunPlan;
  readonly #isPaged: boolean;
  readonly #diskBytes: number;
  readonly #began = Date.now();
  #firstPercent: number | undefined;
  #maxPercent = 0;

  constructor(engine: string, run: Run, plan: RunPlan, [source]: string[], disk: number) {
    this.#engine = engine;
    this.#run = run;
    this.#plan = plan;
    this.#isPaged = source === 'application/pdf';
    this.#diskBytes = disk;
  }

  async perform(): Promise<RunResult | WholeRun> {
    const { task, attempt } = this.#run;
    // Engines of a worker that died may still be running.
    if (attempt > 1) await this.#revoke(attempt - 1);
    const { plan: known, parts: finished } =
      this.#isPaged && attempt === 1 ? { plan: undefined, parts: new Map() } : await readSplit(task);
    if (known !== undefined) return this.#resume(JSON.parse(known), finished);
    const done = await this.#survey();
    const { survey, engineMs } = done;
    if (!survey) return keepResult(this.#run, this.#plan, done);
    const split = this.#isPaged
      ? planPages(survey, this.#plan, engineMs, settings.splitSeconds)
      : planParts(survey, engineMs, settings.splitSeconds);
    if (split) return this.#resume(JSON.parse(await keepPlan(task, JSON.stringify(split))), finished);
    this.#run.logger.info('the run is not split', { reason: survey.whole, seconds: survey.seconds });
    return {
      estimatedSeconds: survey.seconds,
      details: { ...estimateOf(survey.seconds), ...(survey.whole ? { split_reason: survey.whole } : {}) },
    };
  }

  /** Surveys the source. Pages that do not take long are drawn at once, because most documents have few. */
  #survey(): Promise<Done> {
    const { attempt } = this.#run;
    const { files } = this.#plan;
    if (this.#isPaged) {
      const wholeWithin = minParts * settings.splitSeconds;
      const names = { output: attempt, revoked: attempt };
      return this.#repeated(attempt, () =>
        this.#invoke({ kind: 'survey', wholeWithin }, { files, read: {} }, names, this.#run.progress),
      );
    }
    const names = { output: partRun(attempt, 'survey', 1), revoked: attempt };
    const hasIndex = files.every((file) => isIndexedVideo(catalogue, file));
    const read: SourceRead = hasIndex ? { read: 'index' } : {};
    return this.#repeated(attempt, () =>
      this.#invoke({ kind: 'survey' }, { files, read }, names, (percent) =>
        this.#run.progress((percent * surveyedPercent) / 100),
      ),
    );
  }

  /** Goes on with a plan: performs the parts that are missing, and puts all of them together. */
  #resume(split: SplitPlan | PagesPlan, finished: ReadonlyMap<string, FinishedPart>): Promise<RunResult> {
    if (!('cuts' in split)) return this.#runChunks(split, finished);
    return this.#plan.operation === recognition ? this.#runTexts(split, finished) : this.#runPages(split, finished);
  }

  async #runChunks(split: SplitPlan, finished: ReadonlyMap<string, FinishedPart>): Promise<RunResult> {
    const states = new PartStates(partsOf(split), finished, laterWeights(split));
    const { sound, size } = split;
    const join = {
      request: { kind: 'join', starts: split.chunks.map(({ from }) => from), sound } as const,
      read: readOf(split.reads?.join),
    };
    const result = await this.#runJoined(split, states, join, async (work) => {
      const chunks = await encode(split, states, work);
      return [...chunks, ...(sound ? [soundPart] : [])];
    });
    if (size) requireSize(size.bytes, result.files[0]?.size ?? 0);
    return result;
  }

  #runTexts(split: PagesPlan, finished: ReadonlyMap<string, FinishedPart>): Promise<RunResult> {
    const parts = partsOfPages(split, 'texts');
    const states = new PartStates(parts, finished);
    const join = { request: { kind: 'join', starts: split.cuts.slice(0, -1), sound: false } as const, read: {} };
    return this.#runJoined(split, states, join, async (work) => {
      await runParts(states, work);
      return parts.map(({ name }) => name);
    });
  }

  /** Runs parts, and joins those that the steps name. */
  async #runJoined(
    split: Pick<SplitPlan, 'seconds' | 'surveyMs'>,
    states: PartStates,
    join: { request: JoinRequest; read: SourceRead },
    steps: (work: PartsWork) => Promise<string[]>,
  ): Promise<RunResult> {
    const run = this.#run;
    let joinMs = 0;
    let joinBegan: number | undefined;
    run.usedMs = () => {
      const now = Date.now();
      return split.surveyMs + states.usedMs(now) + (joinMs || (joinBegan === undefined ? 0 : now - joinBegan));
    };
    const perform: PartsWork['perform'] = (part, count, progress) => this.#performPart(part, count, progress);
    const names = await this.#runParts(split, states, encodedPercent, perform, steps);
    const parts = names.flatMap((name) => states.output(name) ?? []);
    this.#requireTimeToJoin(states, totalBytes(parts), fetchedBytes(join.read, this.#sourceBytes));
    joinBegan = Date.now();
    const { outputFormat } = this.#plan;
    const revoked = `${run.attempt}/join` as const;
    const joined = async (large: LargeUpload | undefined) => {
      const done = await this.#join(join, states, parts, { output: run.attempt, revoked, large });
      joinMs = done.engineMs;
      return { done, files: await keepOutputs(run, done.outputs, this.#diskBytes, { large }) };
    };
    const room = { outputFormat, maxOutputBytes: this.#diskBytes };
    // Each try has an upload of its own, to which an engine that broke off cannot write.
    const { done, files } = await this.#repeated(revoked, () =>
      withLargeUpload(run, room, joined, maxJoinedFormBytes, totalBytes(parts)),
    );
    run.engine = { ms: run.usedMs(), formats: formatsOf(this.#plan) };
    writeEstimate(split.seconds, (run.engine.ms - split.surveyMs - joinMs) / 1_000, this.#engine);
    return {
      files,
      details: { ...done.details, ...estimateOf(split.seconds, states.total) },
      leftovers: done.outputs.map((_, index) => postedKey(run.task.id, run.attempt, index)),
    };
  }

  async #runPages(split: PagesPlan, finished: ReadonlyMap<string, FinishedPart>): Promise<RunResult> {
    const run = this.#run;
    const states = new PartStates(partsOfPages(split), finished);
    const files = new PageFiles(run, this.#plan, split);
    run.usedMs = () => split.surveyMs + states.usedMs(Date.now());
    const perform: PartsWork['perform'] = async ({ name, request, read }, count, progress) => {
      const output = partRun(run.attempt, name, count);
      const inputs = { files: this.#plan.files, read };
      const done = await this.#invoke(request, inputs, { output, revoked: run.attempt }, progress);
      return files.keepPart(name, request, output, done, states);
    };
    await this.#runParts(split, states, joinedPercent, perform, (work) => runParts(states, work));
    this.#requireTimeToJoin(states, states.bytes(), 0);
    run.engine = { ms: run.usedMs(), formats: formatsOf(this.#plan) };
    writeEstimate(split.seconds, (run.engine.ms - split.surveyMs) / 1_000, this.#engine);
    return { files: await files.collect(states), details: estimateOf(split.seconds, states.total) };
  }

  /** Runs the parts of a plan by these steps, within its share of the places. `percent` is the progress at their end. */
  async #runParts<T>(
    { seconds }: Pick<SplitPlan, 'seconds'>,
    states: PartStates,
    percent: number,
    perform: PartsWork['perform'],
    steps: (work: PartsWork) => Promise<T>,
  ): Promise<T> {
    const run = this.#run;
    run.wantedMs = Math.max(run.usedMs?.() ?? 0, seconds * 1_000);
    run.logger.info('the run is split', { parts: states.total, finished: states.done, seconds });
    const places = new Places(run.task, settings.splitAtOnce);
    const report = () => this.#report(surveyedPercent + states.share * (percent - surveyedPercent), states);
    report();
    try {
      return await steps({
        perform,
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
  }

  /** Runs a part, copies its output out of the reach of its form, and adds it to the set of the task. */
  async #performPart(
    { name, request, read }: PlannedPart,
    count: number,
    progress: (percent: number) => void,
  ): Promise<FinishedPart> {
    const { task, attempt, signal } = this.#run;
    const output = partRun(attempt, name, count);
    const { files } = this.#plan;
    const done = await this.#invoke(request, { files, read }, { output, revoked: attempt }, progress);
    const [file] = await keepOutputs({ task, attempt: output, signal }, done.outputs, this.#diskBytes);
    if (!file) throw new Error(`The part ${name} has no output.`);
    const own = { key: file.key, size: file.size, format: file.format, ms: done.engineMs };
    const kept = await keepPart(task, name, own);
    await deleteKeys([postedKey(task.id, output, 0), ...(kept.key === own.key ? [] : [own.key])]);
    return kept;
  }

  #join(
    { request, read }: { request: JoinRequest; read: SourceRead },
    states: PartStates,
    parts: FinishedPart[],
    names: RunNames,
  ): Promise<Done> {
    const inputs = [
      ...this.#plan.files,
      ...parts.map((part, index) => partFile(index < request.starts.length ? `chunk-${index}` : soundPart, part)),
    ];
    return this.#invoke(request, { files: inputs, read }, names, (percent) =>
      this.#report(encodedPercent + (percent * (joinedPercent - encodedPercent)) / 100, states),
    );
  }

  /** Repeats a part that nothing else runs next to, if its engine breaks off. */
  #repeated<T>(revoked: Revocable, perform: () => Promise<T>): Promise<T> {
    const { signal, task } = this.#run;
    const work = retry(
      perform,
      (error, count) => {
        if (!(error instanceof BrokenRun) || count === maxTries) throw error;
        return backoff(count, firstBackoffMs);
      },
      signal,
    );
    return unlessAborted(signal, work, () => revoke(task.id, revoked));
  }

  /** Runs a part. If it refuses a source that was read in part, it is run once more with all of it. */
  async #invoke(
    part: PartRequest,
    { files, read }: PartInputs,
    names: RunNames,
    progress: (percent: number) => void,
  ): Promise<Done> {
    const run = this.#run;
    const fetched = files.reduce((sum, { size }, index) => sum + (index === 0 ? fetchedBytes(read, size) : size), 0);
    const room = this.#diskBytes - fetched;
    if (room < this.#diskBytes * minRoom)
      throw new EngineError(
        `A part of the work reads ${fetched.toLocaleString('en')} bytes, which do not fit on the disk of the engine. Split the input first, or convert a video to MP4.`,
      );
    // A survey stores nothing, unless it may become the whole run.
    const isOnlySurvey = part.kind === 'survey' && part.wholeWithin === undefined;
    const request = await requestOf(
      run,
      { ...this.#plan, files, part, maxOutputBytes: isOnlySurvey ? 1 : room },
      names,
      read,
    );
    const response = await lastResponse(this.#engine, request, run.signal, progress);
    if (response.type !== 'refused') return response;
    const { msg, detail } = response;
    const isWhole = !read.ranges && !read.read;
    if (!isWhole && this.#sourceBytes <= this.#diskBytes * (1 - minRoom)) {
      run.logger.warn('a part reads the whole source', { part: part.kind, reason: msg, detail });
      return this.#invoke(part, { files, read: {} }, names, progress);
    }
    // Without parts, the run is charged for this one.
    if (!run.usedMs) run.engine = { ms: response.engineMs, formats: formatsOf(this.#plan) };
    throw new EngineError(msg, { detail });
  }

  get #sourceBytes(): number {
    return totalBytes(this.#plan.files);
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
  #requireTimeToJoin(states: PartStates, partBytes: number, sourceBytes: number): void {
    const ms = (2 * settings.splitSeconds + (2 * partBytes + sourceBytes) / joinBytesPerSecond) * 1_000;
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

/** Returns how many bytes of a source are fetched. An index has hardly any. */
function fetchedBytes({ ranges, read }: SourceRead, size: number): number {
  if (read === 'index') return 0;
  return ranges ? bytesOf(ranges) : size;
}

function partFile(name: string, { key, size, format }: FinishedPart): StoredFile {
  return { key, name: `${name}.${format}`, size, format, mediaType: catalogue.mediaType(format), token: '' };
}

function estimateOf(seconds: number, parts?: number): JsonObject {
  const conversionSeconds = Math.round(seconds);
  return { estimate: { conversionSeconds, ...(parts === undefined ? {} : { parts }) } };
}
