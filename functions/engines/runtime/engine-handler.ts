import { closeSync, fstatSync, writeFileSync } from 'node:fs';
import { Logger } from '@aws-lambda-powertools/logger';
import type { EngineResources } from '../../../shared/catalogue/catalogue.ts';
import { mapAtOnce } from '../../../shared/concurrency.ts';
import { defined } from '../../../shared/defined.ts';
import { safeName, uniqueNames } from '../../../shared/files/names.ts';
import { collectRarely } from '../../../shared/heap.ts';
import { filesAtOnce } from '../../../shared/tasks/limits.ts';
import { ArrivingInputs } from './arriving-inputs.ts';
import { type ByteRange, bytesOf } from './byte-ranges.ts';
import { TamperedError } from './checks.ts';
import { EarlyOutput } from './early-output.ts';
import { EngineError, type InputFile, type RunContext, type Work, type WorkResult } from './engine.ts';
import { Outputs } from './outputs.ts';
import {
  type EngineRequest,
  type EngineResponse,
  maxPostBytes,
  type RemoteInput,
  type RemoteOutput,
} from './protocol.ts';
import { redact, secretsOf } from './redact.ts';
import { type Content, contentOf, fetchFile, postFile, putParts, readContent } from './remote-files.ts';
import { fetchIndex, fetchRanges } from './remote-ranges.ts';
import { watchRun } from './run-watch.ts';
import type { OpenFile } from './sandbox/folder.ts';
import { type PreparedTask, Sandbox } from './sandbox/sandbox.ts';
import { zipOf } from './zip.ts';

/** Memory that the function itself needs in addition to the engine's. */
const ownMemoryBytes = 200 * 1024 * 1024;

/** A join has hundreds of inputs, and one connection does not use what the function has. */
const inputsAtOnce = 16;

/** The part of the progress that fetching ranges takes. */
const fetchedPercent = 10;

/** Shown to the user; the log has the details. */
const tampered = 'The file could not be converted: it made the engine behave in a way that is not allowed.';

/**
 * Returns the Lambda handler of an engine: it fetches files by their URLs, runs the engine in its sandbox and posts the
 * outputs.
 */
export function engineHandler(module: URL, { network = false }: Pick<EngineResources, 'network'> = {}) {
  const memoryBytes = Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? 2048) * 1024 * 1024 - ownMemoryBytes;
  const sandbox = new Sandbox({ module, memoryBytes, network });
  sandbox.warm();
  collectRarely();
  return awslambda.streamifyResponse(async (request: EngineRequest, stream, { tenantId = request.tenant }) => {
    // Lambda chose this environment by the tenant of the invocation, and never uses it for another.
    if (tenantId !== request.tenant) throw new Error('The request belongs to another tenant than this environment.');
    const send = (response: EngineResponse) => stream.write(`${JSON.stringify(response)}\n`);
    send(await respond(request, sandbox, send));
    sandbox.endTask();
    // The worker does not wait for this. An engine frozen before it has settled would delay the next task.
    await sandbox.settled();
    await new Promise<void>((resolve) => stream.end(resolve));
    // Files or processes that cannot be removed would be within reach of the next task. Lambda starts another environment.
    if (sandbox.isUnusable) process.exit(1);
  });
}

async function respond(
  request: EngineRequest,
  sandbox: Sandbox,
  send: (response: EngineResponse) => void,
): Promise<EngineResponse> {
  const { taskId, jobId, attempt } = request;
  const logger = new Logger({ serviceName: 'lathe', persistentKeys: { taskId, jobId, attempt } });
  const watch = watchRun(request, logger);
  const secrets = secretsOf(request.options);
  const hide = (text: string) => redact(text, secrets);
  // If the sandbox does not start, the run reports it.
  const reported = sandbox.barriers().then(
    (barriers) => send({ type: 'isolation', barriers }),
    () => {},
  );
  let engineMs = 0;
  let arriving: ArrivingInputs | undefined;
  let early: { path: string; output: EarlyOutput } | undefined;
  const failure = new AbortController();
  const signal = AbortSignal.any([watch.signal, failure.signal]);
  try {
    const task = sandbox.prepare(request.tenant);
    const progress = (percent: number) => send({ type: 'progress', percent });
    const onFetched = (share: number) => progress(share * fetchedPercent);
    // A join reads one part after another.
    const isEarly = request.part?.kind === 'join' && request.inputs.every((input) => 'url' in input && !input.role);
    const begun = isEarly ? beginInputs(request, task, signal, onFetched) : undefined;
    arriving = begun?.arriving;
    const work = workOf(request, begun?.files ?? (await fetchInputs(request, task, signal, onFetched)), task.folder);
    const isRanged = work.inputs.some(({ ranges }) => ranges);
    const context: RunContext = {
      signal,
      progress: (percent) => progress(isRanged ? fetchedPercent + (percent * (100 - fetchedPercent)) / 100 : percent),
      ...timestampFor(request, signal),
      ...(begun ? { arrival: (index) => begun.arriving.arrival(index) } : {}),
      ...announcing(request, task, signal, (path, output) => {
        if (early) throw new TamperedError('The engine announced a second output.');
        early = { path, output: output((error) => failure.abort(error)) };
      }),
      // As texts under fixed keys: a key chosen by an engine could pass for a log field or a metric.
      log: (message, details = {}) =>
        logger.info('the engine reports', { report: hide(message), details: hide(JSON.stringify(details)) }),
    };
    const began = performance.now();
    const result = await sandbox.run(work, context, request.tenant).finally(() => {
      const since = begun ? (begun.arriving.completedAt ?? performance.now()) : began;
      engineMs = Math.ceil(performance.now() - Math.max(began, since));
    });
    const done = await deliver(request, task, result, signal, early);
    logger.info('delivered the outputs', { outputs: result.outputs.length, engineMs });
    return { ...done, engineMs };
  } catch (error) {
    failure.abort(error);
    if (error instanceof EngineError) {
      logger.info('refused the work', { reason: hide(error.message) });
      const needsTime = error.needsTime ? ({ needsTime: true } as const) : {};
      return { type: 'refused', msg: error.message, detail: hide(error.detail), engineMs, ...needsTime };
    }
    // The process itself may have caused the failure, so it is not used again.
    sandbox.endProcess();
    if (error instanceof TamperedError && !sandbox.isUnusable) {
      logger.error('the engine was tampered with', { violation: error.message });
      return { type: 'refused', msg: tampered, detail: error.message, engineMs };
    }
    const message = hide(error instanceof Error ? (error.stack ?? error.message) : String(error));
    logger.warn('the run broke off', { error: message });
    return { type: 'broken', message };
  } finally {
    await Promise.all([arriving?.stop(), early?.output.end()]);
    watch.stop();
    await reported;
  }
}

/** Returns the request for time stamps that the options of a run allow: one for each input. */
function timestampFor(
  { operation, options, inputs }: EngineRequest,
  signal: AbortSignal,
): Pick<RunContext, 'timestamp'> {
  const { timestamp: url } = options;
  if (operation !== 'pdf/sign' || typeof url !== 'string') return {};
  let left = inputs.filter(({ role }) => role === undefined).length;
  return {
    async timestamp(digest) {
      left -= 1;
      if (left < 0) throw new TamperedError('The engine asked for more time stamps than it has inputs.');
      const { requestTimestamp } = await import('./timestamp-request.ts');
      return requestTimestamp(url, digest, { signal });
    },
  };
}

/** Returns how an output of a run is announced, if it may be stored while it is written. */
function announcing(
  { large }: EngineRequest,
  task: PreparedTask,
  signal: AbortSignal,
  announced: (path: string, output: (onFailure: (error: unknown) => void) => EarlyOutput) => void,
): Pick<RunContext, 'announce'> {
  const front = large?.front;
  if (!large || front === undefined) return {};
  return {
    announce: (path, frontBytes) => {
      const options = { frontBytes, large: { ...large, front }, signal, open: () => task.openOutput(path) };
      announced(path, (onFailure) => new EarlyOutput({ ...options, onFailure }));
    },
  };
}

/** Begins to fetch the inputs of a join: the source, the sound, and the others in their order. */
function beginInputs(
  { inputs, part }: EngineRequest,
  task: PreparedTask,
  signal: AbortSignal,
  onFetched: (share: number) => void,
): { files: InputFile[]; arriving: ArrivingInputs } {
  const created = inputs.map((_, index) => task.createInput(String(index)));
  const places = inputs.map(({ size }, index) => ({ size, descriptor: created[index]?.descriptor ?? -1 }));
  const [source, ...others] = [...inputs.keys()];
  const isLastNext = part?.kind === 'join' && part.sound;
  const order = [source ?? 0, ...(isLastNext ? others.slice(-1) : []), ...(isLastNext ? others.slice(0, -1) : others)];
  const fetch = async (index: number, either: AbortSignal) => {
    const input = inputs[index];
    if (input && 'url' in input) await fetchInput(input, places[index]?.descriptor ?? -1, either, onFetched);
  };
  const files = inputs.map((input, index): InputFile => {
    const { name, format, size } = input;
    const ranges = 'url' in input ? input.ranges : undefined;
    return { path: created[index]?.path ?? '', name, format, size, ...defined({ ranges }) };
  });
  return { files, arriving: new ArrivingInputs(places, order, fetch, signal) };
}

function fetchInputs(
  request: EngineRequest,
  task: PreparedTask,
  signal: AbortSignal,
  onFetched: (share: number) => void,
): Promise<InputFile[]> {
  return mapAtOnce(request.inputs, inputsAtOnce, async (input, index): Promise<InputFile> => {
    const { path, descriptor } = task.createInput(String(index));
    try {
      const ranges = 'url' in input ? await fetchInput(input, descriptor, signal, onFetched) : undefined;
      if ('content' in input) writeFileSync(descriptor, Buffer.from(input.content, 'base64'));
      const { name, format } = input;
      return { path, name, format, size: fstatSync(descriptor).size, ...defined({ ranges }) };
    } finally {
      closeSync(descriptor);
    }
  });
}

function workOf(request: EngineRequest, files: InputFile[], folder: string): Work {
  const { operation, page, picture, part, outputFormat, options, maxOutputBytes, deadline } = request;
  const { maxProcessorSeconds } = request;
  const roleOf = (index: number) => request.inputs[index]?.role;
  const others = files.flatMap((file, index) => {
    const role = roleOf(index);
    return role === undefined ? [] : [{ ...file, role }];
  });
  return {
    operation,
    inputs: files.filter((_, index) => roleOf(index) === undefined),
    outputFormat,
    options,
    maxOutputBytes,
    deadline,
    folder,
    ...defined({ page, picture, part, maxProcessorSeconds, others: others.length > 0 ? others : undefined }),
  };
}

/** Fetches an input, and returns its ranges if not all of it is fetched. */
async function fetchInput(
  { url, size, ranges, read }: Extract<RemoteInput, { url: string }>,
  descriptor: number,
  signal: AbortSignal,
  onFetched: (share: number) => void,
): Promise<ByteRange[] | undefined> {
  if (read === 'index') return fetchIndex({ url, size, descriptor, signal });
  if (!ranges) {
    await fetchFile(url, descriptor, signal);
    return undefined;
  }
  const all = bytesOf(ranges);
  let fetched = 0;
  let reported = 0;
  const onBytes = (bytes: number) => {
    fetched += bytes;
    // The worker accepts a limited number of reports.
    if (fetched < all && fetched - reported < all / 20) return;
    reported = fetched;
    onFetched(fetched / all);
  };
  await fetchRanges({ url, size, descriptor, signal, onBytes }, ranges);
  return ranges;
}

/** Delivers the outputs: in the response if they are small enough, and otherwise by the form. */
async function deliver(
  request: EngineRequest,
  task: PreparedTask,
  { outputs, details, warnings = [] }: WorkResult,
  signal: AbortSignal,
  early?: { path: string; output: EarlyOutput },
): Promise<Omit<Extract<EngineResponse, { type: 'done' }>, 'engineMs'>> {
  if (outputs.length === 0 && request.part?.kind !== 'survey')
    throw new EngineError('The conversion produced no file.');
  const files: OpenFile[] = [];
  try {
    for (const { path } of outputs) files.push(task.openOutput(path));
    const sizes = files.map(({ size }) => size);
    new Outputs({ maxOutputBytes: request.maxOutputBytes }).count(files.length, sizes);
    if (sizes.includes(0)) throw new EngineError('The conversion produced an empty file.');
    const more =
      details || warnings.length > 0 ? { details: { ...details, ...(warnings.length > 0 ? { warnings } : {}) } } : {};
    const [first] = outputs;
    if (first?.announced) {
      const { path, name, format, announced } = first;
      const file = files[0];
      if (!file || early?.path !== path || announced.end > file.size || outputs.length > 1)
        throw new TamperedError('The output is not the one that was announced.');
      const front = announced.front === undefined ? undefined : task.openOutput(announced.front);
      if (front) files.push(front);
      return {
        type: 'done',
        outputs: [{ name, format, parts: await early.output.finish(file, announced, front) }],
        ...more,
      };
    }
    // What was stored of an announced output is stored again or ignored.
    await early?.output.end();
    const named = outputs.map(({ name, format }, index) => ({ name, format, file: files[index] }));
    const contents = await archived(
      request,
      named.flatMap(({ file, ...output }) => (file ? [{ ...output, content: contentOf(file) }] : [])),
    );
    const bytes = contents.reduce((sum, { content }) => sum + content.size, 0);
    const isInline = bytes <= (request.inlineBytes ?? 0);
    const { large, output } = request;
    const largest = large ? contents.findIndex(({ content }) => content.size > large.overBytes) : -1;
    const store = async ({ name, format, content }: Delivery, index: number): Promise<RemoteOutput> => {
      if (isInline) return { name, format, content: (await readContent(content)).toString('base64') };
      const { size, slice } = content;
      if (large && slice && index === largest)
        return { name, format, parts: await putParts({ size, slice }, large, signal) };
      if (large && size > maxPostBytes)
        throw new EngineError(`Only one output of a task may be larger than ${maxPostBytes / 1024 ** 3} GB.`);
      return { name, format, etag: await postFile(content, `${output.prefix}${index}`, output, signal) };
    };
    return {
      type: 'done',
      outputs: await mapAtOnce(contents, filesAtOnce, store),
      ...more,
    };
  } finally {
    for (const { descriptor } of files) closeSync(descriptor);
  }
}

interface Delivery {
  name: string;
  format: string;
  content: Content;
}

/** Puts several outputs into one ZIP, if the request asks for it. */
async function archived({ archive: name }: EngineRequest, files: Delivery[]): Promise<Delivery[]> {
  if (name === undefined || files.length < 2) return files;
  const names = uniqueNames(files.map((file) => safeName(file.name)));
  const entries = files.map(({ content }, index) => ({ name: names[index] ?? '', content }));
  return [{ name, format: 'zip', content: await zipOf(entries) }];
}
