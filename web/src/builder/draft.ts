import { extensionOf, isTransfer } from '../format.ts';
import type { Job } from '../service/types.ts';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type Parameters = Record<string, Json>;

/** A task of a draft. */
export interface DraftTask {
  /** Stays the same when the name changes; not a valid task name. */
  key: string;
  name: string;
  operation: string;
  /** Keys of tasks of the draft, or ids of existing tasks. */
  inputs: string[];
  /** Tasks whose files it uses in addition, by the fields that name them. */
  roles?: Record<string, string[]>;
  parameters: Parameters;
  /** Uploaded when the job is run. */
  file?: File;
  /** Name of the chosen file, which outlives the file when the page is reloaded. */
  fileName?: string;
}

export interface Draft {
  tasks: DraftTask[];
  /** Properties of the job other than its tasks: `tag`, `webhook_url`. */
  settings: Parameters;
}

/** The request body of a job. */
export type JobBody = Parameters & { tasks: Record<string, Parameters> };

export const emptyDraft: Draft = { tasks: [], settings: {} };

let made = 0;

function newKey(): string {
  made += 1;
  return `task.${made}`;
}

/** Returns the request body for a draft. */
export function jobOf({ tasks, settings }: Draft): JobBody {
  const names = new Map(tasks.map(({ key, name }) => [key, name]));
  const definitions = tasks.map(({ name, operation, inputs, roles, parameters }): [string, Parameters] => {
    const fields = Object.entries({ input: inputs, ...roles }).flatMap(([field, keys]): [string, Json][] => {
      const [first, ...others] = keys.map((key) => names.get(key) ?? key);
      if (first === undefined) return [];
      return [[field, others.length > 0 ? [first, ...others] : first]];
    });
    return [name, { operation, ...Object.fromEntries(fields), ...parameters }];
  });
  return { ...settings, tasks: Object.fromEntries(definitions) };
}

/** Parses a job from JSON. */
export function parseJob(text: string): Draft {
  let parsed: Json;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`Expected JSON. ${error instanceof Error ? error.message : ''}`.trim());
  }
  if (!isObject(parsed) || !isObject(parsed.tasks))
    throw new Error('Expected a job: { "tasks": { "name": { "operation": "…" } } }.');
  const { tasks, ...settings } = parsed;
  return draftOf({ ...settings, tasks: Object.fromEntries(Object.entries(tasks).map(definitionOf)) });
}

function definitionOf([name, definition]: [string, Json]): [string, Parameters] {
  if (!isObject(definition) || typeof definition.operation !== 'string')
    throw new Error(`Expected the task ${name} to be an object with an operation.`);
  return [name, definition];
}

/** Returns the draft of a job. */
export function draftOf({ tasks, ...settings }: JobBody): Draft {
  const keys = new Map(Object.keys(tasks).map((name) => [name, newKey()]));
  return {
    settings,
    tasks: Object.entries(tasks).map(([name, { operation, input, ...given }]) => {
      const keysOf = (value: Json | undefined) => inputsIn(value).map((each) => keys.get(each) ?? each);
      const fields = Object.entries(given);
      const named = isTransfer(String(operation)) ? [] : fields.filter(([field]) => !ownFields.includes(field));
      return {
        key: keys.get(name) ?? newKey(),
        name,
        operation: String(operation),
        inputs: keysOf(input),
        ...(named.length > 0 ? { roles: Object.fromEntries(named.map(([role, value]) => [role, keysOf(value)])) } : {}),
        parameters: Object.fromEntries(fields.filter((field) => !named.includes(field))),
      };
    }),
  };
}

/** Fields of an operation on files that do not name tasks. */
const ownFields = ['input_format', 'output_format', 'options', 'filename'];

function inputsIn(input: Json | undefined): string[] {
  if (input === undefined || input === null) return [];
  return (Array.isArray(input) ? input : [input]).map(String);
}

/** Returns a draft as text, without its secrets and the contents of its files. */
export function storedDraft(draft: Draft, isSecret: (operation: string, parameter: string) => boolean): string {
  const tasks = draft.tasks.map(({ file, ...task }) => ({
    ...task,
    parameters: Object.fromEntries(
      Object.entries(task.parameters).flatMap(([name, value]): [string, Json][] => {
        if (isSecret(task.operation, name)) return [];
        return [[name, name === 'options' && isObject(value) ? withoutPasswords(value) : value]];
      }),
    ),
  }));
  return JSON.stringify({ ...draft, tasks });
}

function withoutPasswords(options: Parameters): Parameters {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !/password/i.test(name)));
}

/** Returns the draft in a text of `storedDraft`. */
export function restoredDraft(text: string): Draft {
  const draft: Draft = JSON.parse(text);
  made = Math.max(made, ...draft.tasks.map(({ key }) => Number(key.slice('task.'.length))));
  return draft;
}

const mask = '********';

/** Returns a draft like an existing job, without its secrets and files. */
export function draftLike({ tag, tasks = [] }: Job): Draft {
  const names = new Map(tasks.map(({ id, name }) => [id, name]));
  const definitions = tasks.map(({ name, operation, payload, dependsOn }): [string, Parameters] => {
    const parameters = Object.entries(withoutMasks(payload as Parameters)).map(([field, value]): [string, Json] => [
      field,
      Array.isArray(value) ? value.map((id) => names.get(String(id)) ?? id) : value,
    ]);
    const others = parameters.flatMap(([, value]) => (Array.isArray(value) ? value : []));
    const input = dependsOn.map((id) => names.get(id) ?? id).filter((each) => !others.includes(each));
    return [name, { operation, ...(input.length > 0 ? { input } : {}), ...Object.fromEntries(parameters) }];
  });
  return draftOf({ ...(typeof tag === 'string' ? { tag } : {}), tasks: Object.fromEntries(definitions) });
}

function withoutMasks(payload: Parameters): Parameters {
  const kept = Object.entries(payload).flatMap(([name, value]): [string, Json][] => {
    if (value === mask || value === '') return [];
    if (!isObject(value)) return [[name, value]];
    const inner = withoutMasks(value);
    return Object.keys(inner).length > 0 ? [[name, inner]] : [];
  });
  return Object.fromEntries(kept);
}

function isObject(value: Json | undefined): value is Parameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Adds a task. If it needs input, it reads from the last task that produces files. */
export function withNewTask(draft: Draft, { name, takesInput }: { name: string; takesInput: boolean }): Draft {
  const source = draft.tasks.findLast(({ operation }) => !operation.startsWith('export/'));
  const task: DraftTask = {
    key: newKey(),
    name: freeName(draft, (isTransfer(name) ? name.split('/')[0] : name.split('/').at(-1)) ?? name),
    operation: name,
    inputs: takesInput && source ? [source.key] : [],
    parameters: {},
  };
  return { ...draft, tasks: [...draft.tasks, task] };
}

function freeName({ tasks }: Draft, wanted: string): string {
  const taken = new Set(tasks.map(({ name }) => name));
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
  return name;
}

/** Replaces a task. */
export function withTask(draft: Draft, changed: DraftTask): Draft {
  return { ...draft, tasks: draft.tasks.map((task) => (task.key === changed.key ? changed : task)) };
}

/** Removes a task, including from the inputs of others. */
export function withoutTask(draft: Draft, { key }: DraftTask): Draft {
  const others = draft.tasks.filter((task) => task.key !== key);
  const without = (keys: string[]) => keys.filter((each) => each !== key);
  return {
    ...draft,
    tasks: others.map((task) => ({
      ...task,
      inputs: without(task.inputs),
      roles: Object.fromEntries(Object.entries(task.roles ?? {}).map(([role, keys]) => [role, without(keys)])),
    })),
  };
}

/** Sets or removes a parameter of a task. */
export function withParameter(task: DraftTask, name: string, value: Json | undefined): DraftTask {
  const { [name]: _, ...others } = task.parameters;
  return { ...task, parameters: value === undefined ? others : { ...task.parameters, [name]: value } };
}

/** Returns the tasks whose files a task reads. */
export function sourcesOf({ inputs, roles = {} }: DraftTask): string[] {
  return [...inputs, ...Object.values(roles).flat()];
}

/** Returns the possible inputs of a task: those that produce files and do not depend on it. */
export function possibleInputs(task: DraftTask, { tasks }: Draft): DraftTask[] {
  const fed = new Set([task.key]);
  for (let before = 0; before !== fed.size; ) {
    before = fed.size;
    for (const task of tasks) if (sourcesOf(task).some((source) => fed.has(source))) fed.add(task.key);
  }
  return tasks.filter(({ key, operation }) => !fed.has(key) && !operation.startsWith('export/'));
}

/** Returns the output format of a task, if it can be predicted. */
export function formatOf(task: DraftTask | undefined, draft: Draft, seen = new Set<string>()): string {
  if (!task || seen.has(task.key)) return '';
  const { operation, parameters, fileName = '' } = task;
  const text = (name: string) => (typeof parameters[name] === 'string' ? parameters[name] : '');
  if (operation === 'import/webpage') return 'html';
  if (!isTransfer(operation)) return text('output_format') || inputFormatOf(task, draft, seen);
  const url = text('url');
  const names = [
    fileName,
    text('filename'),
    URL.canParse(url) ? new URL(url).pathname : '',
    ...['key', 'file', 'blob', 'file_string'].map(text),
  ];
  return names.map(extensionOf).find((extension) => extension !== '') ?? '';
}

/** Returns the input format of a task, if it can be predicted. */
export function inputFormatOf(task: DraftTask, draft: Draft, seen = new Set<string>()): string {
  if (typeof task.parameters.input_format === 'string') return task.parameters.input_format;
  const known = new Set(seen).add(task.key);
  const sources = task.inputs.map((input) => draft.tasks.find(({ key }) => key === input));
  return sources.map((source) => formatOf(source, draft, known)).find((format) => format !== '') ?? '';
}

/** A problem with a field of a task, or with the task if `field` is empty. */
export interface FieldProblem {
  field: string;
  text: string;
}

/** Groups problems by task; the others concern the job. */
export function problemsByTask(
  { tasks }: Draft,
  fields: Record<string, string[]>,
): { byTask: Map<string, FieldProblem[]>; others: string[] } {
  const byTask = new Map<string, FieldProblem[]>();
  const others: string[] = [];
  for (const [path, texts] of Object.entries(fields)) {
    const task =
      tasks.find(({ name }) => path === `tasks.${name}`) ?? tasks.find(({ name }) => path.startsWith(`tasks.${name}.`));
    if (!task) others.push(...texts.map((text) => `${path}: ${text}`));
    else {
      const field = path.slice(`tasks.${task.name}.`.length);
      byTask.set(task.key, [...(byTask.get(task.key) ?? []), ...texts.map((text) => ({ field, text }))]);
    }
  }
  return { byTask, others };
}

/** Returns the keys of tasks with duplicate names. */
export function tasksOfSameName({ tasks }: Draft): string[] {
  const names = tasks.map(({ name }) => name);
  return tasks.filter(({ name }) => names.indexOf(name) !== names.lastIndexOf(name)).map(({ key }) => key);
}
