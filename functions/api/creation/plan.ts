import type { KeyLimits } from '../../../shared/accounts/caller.ts';
import { limitsOfTask } from '../../../shared/accounts/limits.ts';
import type { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkProcessing, type ProcessingProblems } from '../../../shared/catalogue/check.ts';
import { defined } from '../../../shared/defined.ts';
import { extensionOf } from '../../../shared/files/names.ts';
import { isId, newGroup, newId } from '../../../shared/ids.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import { isSameName } from '../../../shared/operations/nearest-name.ts';
import {
  type FileRole,
  isProcessing,
  type OperationName,
  outputFormatOf,
  type ProcessingOperation,
} from '../../../shared/operations/operations.ts';
import type { FieldErrors, Refusal } from '../../../shared/operations/problems.ts';
import { checkDelayMs, nextCheck } from '../../../shared/tasks/due.ts';
import { inputProblem } from '../../../shared/tasks/limits.ts';
import { newMeter, type TimeLimits } from '../../../shared/tasks/meter.ts';
import {
  hasEnded,
  isLastOfJob,
  type JsonObject,
  type JsonValue,
  type StoredFile,
  type Task,
} from '../../../shared/tasks/task.ts';
import { didYouMean } from '../http/validate.ts';

/** A validated task of a request. */
export interface TaskRequest {
  name: string;
  operation: OperationName;
  /** Names of tasks of the same request, or ids of earlier tasks. */
  inputs: string[];
  /** The roles of the last inputs, which the task does not work on. */
  roles?: FileRole[];
  /** Parameters as the record and the API show them, with masked secrets. */
  parameters: JsonObject;
  /** Secrets, which are stored separately. */
  secrets: JsonObject;
  /** Fields that are not in the schema of the operation. */
  unknownFields: string[];
  /** Path of the task in the body, for error messages. */
  path: string;
}

/** Properties of a job other than its tasks. */
export interface JobSettings {
  tag?: string;
  hasWebhook?: boolean;
}

export interface PlanContext {
  user: string;
  /** The id and limits of the API key that creates the tasks. */
  key?: string;
  limits?: KeyLimits;
  now: number;
  recordSeconds: number;
  uploadSeconds: number;
  catalogue: Catalogue;
  /** Limits of their engine time. */
  timeLimits?: TimeLimits;
  /** Earlier tasks of the same user that are inputs, by id. */
  outside: Map<string, Task>;
  /** Present if the requests form a job. */
  job?: JobSettings;
}

/** Returns the ids of earlier tasks that requests use as inputs. */
export function outsideInputs(requests: TaskRequest[]): string[] {
  const names = new Set(requests.map((request) => request.name));
  return [
    ...new Set(requests.flatMap((request) => request.inputs).filter((input) => !names.has(input) && isId(input))),
  ];
}

/** A record contains the ids of its dependents and is limited to 400 KB. */
const maxDependents = 5_000;

/** Bounds of an error response, because clients control the number of errors. */
const maxFields = 100;
const maxProblems = 5;

/** Plans the records of a job or of a single task without writing them, or returns the invalid fields. */
export function planTasks(
  requests: TaskRequest[],
  context: PlanContext,
): { plan: Plan } | { errors: FieldErrors; reason: Refusal } {
  const byName = new Map(requests.map((request) => [request.name, request]));
  const cycles = findCycles(byName);
  const errors = new Map<string, string[]>();
  let reason: Refusal | undefined;
  for (const request of requests) {
    if (errors.size >= maxFields) break;
    const field = (name: string) => (request.path ? `${request.path}.${name}` : name);
    const problems = inputProblems(request, byName, cycles, context);
    if (problems.length > 0) {
      errors.set(field('input'), problems);
      reason ??= 'invalid_input';
    }
    const processing = processingProblems(request, byName, context);
    if (!processing) continue;
    for (const [name, messages] of Object.entries(processing.errors)) errors.set(field(name), messages);
    reason ??= processing.reason;
  }
  if (reason) return { errors: Object.fromEntries(errors), reason };
  return { plan: build(requests, byName, context) };
}

function inputProblems(
  request: TaskRequest,
  byName: Map<string, TaskRequest>,
  cycles: Map<string, string[]>,
  context: PlanContext,
): string[] {
  const problems: string[] = [];
  const cycle = cycles.get(request.name);
  if (cycle) problems.push(`Task "${request.name}" depends on itself: ${showPath(cycle)}.`);
  for (const input of new Set(request.inputs)) {
    if (problems.length >= maxProblems) break;
    const earlier = context.outside.get(input);
    if (!byName.has(input) && !earlier) problems.push(unknownInput(request, input, byName, context));
    if (earlier && earlier.dependents.length >= maxDependents)
      problems.push(
        `Task ${input} is already the input of ${maxDependents} tasks, which is the maximum. Import its file again.`,
      );
  }
  return problems;
}

function unknownInput(
  request: TaskRequest,
  input: string,
  byName: Map<string, TaskRequest>,
  context: PlanContext,
): string {
  if (isId(input)) return `There is no task ${input}.`;
  if (!context.job) return `Expected the id of a task but received ${JSON.stringify(input)}.`;
  const names = [...byName.keys()].filter((name) => name !== request.name);
  const others = names.length > 0 ? `Its other tasks: ${names.slice(0, 20).join(', ')}.` : 'It has no other task.';
  return `There is no task named ${JSON.stringify(input)} in this job. ${others}`;
}

/**
 * Returns the tasks that depend on themselves, each with its cycle. Visits each input once and without recursion, because
 * clients control their number and depth.
 */
function findCycles(byName: Map<string, TaskRequest>): Map<string, string[]> {
  const cycles = new Map<string, string[]>();
  const done = new Set<string>();
  const path = new Map<string, Iterator<string>>();
  const enter = (name: string) => path.set(name, new Set(byName.get(name)?.inputs).values());
  for (const start of byName.keys()) {
    if (done.has(start)) continue;
    const names = [start];
    enter(start);
    for (let name = names.at(-1); name !== undefined; name = names.at(-1)) {
      const input = path.get(name)?.next();
      if (!input || input.done) {
        path.delete(name);
        names.pop();
        done.add(name);
      } else if (path.has(input.value)) {
        if (!cycles.has(name)) cycles.set(name, [name, ...names.slice(names.indexOf(input.value))]);
      } else if (byName.has(input.value) && !done.has(input.value)) {
        names.push(input.value);
        enter(input.value);
      }
    }
  }
  return cycles;
}

const maxNamesShown = 20;

function showPath(names: string[]): string {
  const half = maxNamesShown / 2;
  const shown =
    names.length > maxNamesShown
      ? [...names.slice(0, half), `… ${names.length - maxNamesShown} more …`, ...names.slice(-half)]
      : names;
  return shown.join(' → ');
}

function processingProblems(
  request: TaskRequest,
  byName: Map<string, TaskRequest>,
  context: PlanContext,
): ProcessingProblems | undefined {
  const { operation } = request;
  if (!isProcessing(operation)) return undefined;
  const misplaced = misplacedOptions(request, operation, context.catalogue);
  if (Object.keys(misplaced).length > 0) return { errors: misplaced, reason: 'unknown_field' };
  const { input_format, output_format, options } = request.parameters;
  const formats =
    typeof input_format === 'string'
      ? [input_format]
      : new Set(workedInputs(request).map((input) => knownFormat(input, byName, context.outside)));
  for (const inputFormat of formats) {
    const checked = checkProcessing(context.catalogue, {
      operation,
      inputFormat,
      outputFormat: typeof output_format === 'string' ? output_format : undefined,
      options: isPlainObject(options) ? options : {},
    });
    if ('errors' in checked) return checked;
    const problem = checked.match && knownInputProblem(request, checked.match.engine, context);
    if (problem !== undefined) return { errors: { input: [problem] }, reason: 'invalid_input' };
  }
  return undefined;
}

/** Returns options that are outside of `options`, where other services expect them, each with a hint. */
function misplacedOptions(
  { unknownFields }: TaskRequest,
  operation: ProcessingOperation,
  catalogue: Catalogue,
): FieldErrors {
  if (unknownFields.length === 0) return {};
  const options = catalogue.optionNames(operation);
  const errors = unknownFields.slice(0, maxFields).flatMap((name): [string, string[]][] => {
    const option = options.find((known) => isSameName(known, name));
    return option === undefined ? [] : [[name, [didYouMean(name, `options.${option}`)]]];
  });
  return Object.fromEntries(errors);
}

/** Returns the problem with inputs whose files already exist. */
function knownInputProblem({ operation, inputs }: TaskRequest, engine: string, context: PlanContext) {
  const files = inputs.flatMap((input) => context.outside.get(input)?.files ?? []);
  return inputProblem(context.catalogue, engine, operation, files);
}

/** Returns the inputs of a task without those that have a role. */
function workedInputs({ inputs, roles = [] }: TaskRequest): string[] {
  return inputs.slice(0, inputs.length - roles.length);
}

function isPlainObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the format of an input if it is known before the input completes. */
export function knownFormat(
  input: string | undefined,
  byName: Map<string, TaskRequest>,
  outside: Map<string, Task>,
): string | undefined {
  if (input === undefined) return undefined;
  const request = byName.get(input);
  if (!request) return outside.get(input)?.files[0]?.format;
  const { output_format, filename } = request.parameters;
  if (isProcessing(request.operation)) return outputFormatOf(request.operation, output_format, undefined);
  if (request.operation === 'import/base64' && typeof filename === 'string') return extensionOf(filename) || undefined;
  return undefined;
}

function build(requests: TaskRequest[], byName: Map<string, TaskRequest>, context: PlanContext): Plan {
  const { now, user, key } = context;
  const limits = limitsOfTask(context.limits ?? {});
  const timestamp = new Date(now).toISOString();
  const expiresAt = new Date(now + context.recordSeconds * 1000).toISOString();
  const group = context.job ? newGroup(requests.length, now) : undefined;
  const jobId = group?.job;
  const ids = new Map(requests.map((request, index) => [request.name, group?.tasks[index] ?? newId(now)]));
  const idOf = (input: string) => ids.get(input) ?? input;
  const dependents = new Map<string, string[]>();
  for (const request of requests) {
    for (const input of new Set(request.inputs)) {
      if (byName.has(input)) dependents.set(input, [...(dependents.get(input) ?? []), idOf(request.name)]);
    }
  }

  const hasForms = requests.some(({ operation }) => operation === 'import/upload');
  const firstCheck = nextCheck(now, hasForms ? Math.min(checkDelayMs, context.uploadSeconds * 1000) : checkDelayMs);
  const lastNames = requests.map(({ name }) => name).filter((name) => !dependents.has(name));
  const tasks = requests.map((request): Task => {
    const dependsOn = request.inputs.map(idOf);
    const uploads = request.operation === 'import/upload';
    const meter = newMeter(request.operation, context.timeLimits);
    return {
      id: idOf(request.name),
      user,
      ...(key === undefined ? {} : { key }),
      ...(Object.keys(limits).length > 0 ? { limits } : {}),
      ...(meter ? { meter } : {}),
      name: request.name,
      operation: request.operation,
      status: uploads ? 'processing' : 'created',
      payload: { ...request.parameters, ...idsByRole(request, dependsOn) },
      ...defined({ roles: request.roles }),
      ...(Object.keys(request.secrets).length > 0 ? { hasSecrets: true } : {}),
      dependsOn,
      dependents: dependents.get(request.name) ?? [],
      ...(jobId ? { job: jobId, ...partOf(request.name, lastNames) } : { dueAt: firstCheck }),
      files: [],
      attempt: 0,
      createdAt: timestamp,
      updatedAt: timestamp,
      ...(uploads ? { startedAt: timestamp, formUntil: now + context.uploadSeconds * 1000 } : {}),
      expiresAt,
      version: 1,
    };
  });
  if (!jobId) return { tasks };

  const started = tasks.some((task) => task.status === 'processing');
  const job: Job = {
    id: jobId,
    user,
    ...(context.job?.tag === undefined ? {} : { tag: context.job.tag }),
    ...(context.job?.hasWebhook ? { webhook: jobId } : {}),
    status: started ? 'processing' : 'created',
    tasks: tasks.map((task) => task.id),
    operations: countBy(tasks.map(({ operation }) => operation)),
    open: openSet(tasks),
    dueAt: firstCheck,
    createdAt: timestamp,
    updatedAt: timestamp,
    ...(started ? { startedAt: timestamp } : {}),
    expiresAt,
    version: 1,
  };
  return { job, tasks };
}

/** Returns the ids of the inputs that have roles. */
function idsByRole({ roles = [] }: TaskRequest, dependsOn: string[]): JsonObject {
  const first = dependsOn.length - roles.length;
  const indexes = Object.entries(Object.groupBy(roles.keys(), (index) => roles[index] ?? ''));
  return Object.fromEntries(
    indexes.map(([role, own = []]) => [role, own.map((index) => dependsOn[first + index] ?? '')]),
  );
}

/** Maximum ids per record. With more, each change would cost more than one write unit. */
const maxOpen = 25;

/** Returns the part of the open set that a task belongs to, if the job has too many tasks for one record. */
function partOf(name: string, lastNames: string[]): Pick<Task, 'openIn'> {
  const position = lastNames.indexOf(name);
  return lastNames.length <= maxOpen || position < 0 ? {} : { openIn: `open#${Math.floor(position / maxOpen)}` };
}

/** Returns the open set of a job: its last tasks that have not ended, or the parts that they belong to. */
function openSet(tasks: Task[]): string[] {
  const open = tasks.filter((task) => isLastOfJob(task) && !hasEnded(task));
  return [...new Set(open.map(({ id, openIn }) => openIn ?? id))];
}

function countBy(names: string[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(Object.groupBy(names, (name) => name)).map(([name, same = []]) => [name, same.length]),
  );
}

/** Returns the plan with a completed task, whose file was sent with the request. */
export function withFile(plan: Plan, taskId: string, file: StoredFile, now: number): Plan {
  const timestamp = new Date(now).toISOString();
  const tasks = plan.tasks.map((task): Task => {
    if (task.id !== taskId) return task;
    const { dueAt: _dueAt, openIn: _openIn, ...rest } = task;
    return { ...rest, status: 'completed', files: [file], progress: 100, startedAt: timestamp, endedAt: timestamp };
  });
  if (!plan.job) return { tasks };
  const open = openSet(tasks);
  const started = { ...plan.job, open, startedAt: timestamp };
  return {
    tasks,
    job:
      open.length === 0
        ? { ...started, status: 'completed', endedAt: timestamp }
        : { ...started, status: 'processing' },
  };
}
