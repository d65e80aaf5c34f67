import type { z } from 'zod';
import { defined } from '../../../shared/defined.ts';
import { suggestion } from '../../../shared/operations/nearest-name.ts';
import {
  type FileRole,
  isOperation,
  type OperationName,
  operationNames,
  rolesOf,
} from '../../../shared/operations/operations.ts';
import type { FieldErrors, Refusal } from '../../../shared/operations/problems.ts';
import type { JsonObject, JsonValue } from '../../../shared/tasks/task.ts';
import { invalidFields } from '../http/errors.ts';
import { fieldErrors, misspelledFields, refusalOf, unknownFields } from '../http/validate.ts';
import type { TaskRequest } from './plan.ts';
import { endpointSchemas, isSecret, maxTasksInJob, operationSchemas, taskName, tooFewToMerge } from './schemas.ts';

/** Each input requires a read and a write. More would exceed the timeout of a request. */
const maxInputsInJob = 2_000;

/** Reads a request to an operation's own endpoint, or throws the 400. */
export function readTaskRequest(
  operation: OperationName,
  body: unknown,
  schema: z.ZodType<object> = endpointSchemas[operation],
): TaskRequest {
  const read = readParameters(schema, body, [], rolesOf(operation));
  if ('errors' in read) throw invalidFields(read.errors, read.reason);
  return { name: operation, operation, path: '', ...read };
}

/** Reads the tasks of a job, or throws the 400 that names every invalid field. */
export function readJobTasks(tasks: Record<string, unknown>): TaskRequest[] {
  const entries = Object.entries(tasks);
  if (entries.length === 0) throw invalidFields({ tasks: ['Expected at least one task.'] });
  if (entries.length > maxTasksInJob)
    throw invalidFields({ tasks: [`Expected at most ${maxTasksInJob} tasks but received ${entries.length}.`] });
  const errors: [string, string[]][] = [];
  const reasons = new Set<Refusal | undefined>();
  const refuse = (problems: FieldErrors, reason?: Refusal): [] => {
    reasons.add(reason);
    errors.push(...Object.entries(problems));
    return [];
  };
  const requests = entries.flatMap(([name, definition]): TaskRequest[] => {
    const path = `tasks.${name}`;
    if (!taskName.test(name)) {
      const received = JSON.stringify(name.slice(0, 100));
      const expected = 'Expected a task name of 1 to 100 letters, digits, dashes and underscores';
      return refuse({ [path]: [`${expected} but received ${received}.`] });
    }
    if (definition === null || typeof definition !== 'object' || Array.isArray(definition))
      return refuse({ [path]: ['Expected an object with the operation of the task and its parameters.'] });
    const operation = 'operation' in definition ? definition.operation : undefined;
    if (typeof operation !== 'string' || !isOperation(operation)) {
      return refuse({ [`${path}.operation`]: [unknownOperation(operation)] });
    }
    const read = readParameters(operationSchemas[operation], definition, ['tasks', name], rolesOf(operation));
    return 'errors' in read ? refuse(read.errors, read.reason) : [{ name, operation, path, ...read }];
  });
  const inputs = requests.reduce((sum, request) => sum + request.inputs.length, 0);
  if (inputs > maxInputsInJob)
    errors.push(['tasks', [`Expected at most ${maxInputsInJob} inputs in all but received ${inputs}.`]]);
  const several = tasksOfSeveralFiles(requests);
  for (const { operation, inputs, path } of requests)
    if (operation === 'merge' && inputs.length < 2 && !inputs.some((input) => several.has(input)))
      errors.push([`${path}.input`, [tooFewToMerge]]);
  if (errors.length > 0) {
    // A field that does not match its schema has no reason, and takes precedence over those that have one.
    const [first] = reasons.size > 0 ? reasons : (['invalid_input'] as const);
    throw invalidFields(Object.fromEntries(errors), reasons.has(undefined) ? undefined : first);
  }
  return requests;
}

/** Operations of similar services, by ours. */
const elsewhere: Record<string, string> = {
  'import/s3': 'import/objstore_a, which reads from Amazon S3 and compatible stores',
  'export/s3': 'export/objstore_a, which writes to Amazon S3 and compatible stores',
  'import/google-cloud-storage': 'import/objstore_b, which reads from Google Cloud Storage',
  'export/google-cloud-storage': 'export/objstore_b, which writes to Google Cloud Storage',
  'import/azure/blob': 'import/blobstore, which reads from Azure Blob Storage',
  'export/azure/blob': 'export/blobstore, which writes to Azure Blob Storage',
  'import/raw': 'import/base64',
  'capture-website': 'import/webpage, followed by convert',
  optimize: 'compress',
  archive: 'export/url with archive_multiple_files',
};

function unknownOperation(operation: unknown): string {
  const expected = `Expected one of ${operationNames.join(', ')}`;
  if (operation === undefined) return `The field is missing. ${expected}.`;
  const received = JSON.stringify(operation).slice(0, 100);
  if (typeof operation !== 'string') return `${expected} but received ${received}.`;
  const known = Object.hasOwn(elsewhere, operation) ? elsewhere[operation] : undefined;
  const meant = known === undefined ? suggestion(operation, operationNames) : ` Use ${known}.`;
  // The list is so long that it would hide the suggestion.
  return `Unknown operation ${received}.${meant || ` ${expected}.`}`;
}

/** Returns the tasks that may have several files: imports of a prefix, and tasks that process their files one by one. */
function tasksOfSeveralFiles(requests: TaskRequest[]): Set<string> {
  const found = new Set(
    requests.filter(({ parameters }) => parameters.key_prefix !== undefined).map(({ name }) => name),
  );
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { name, operation, inputs } of requests)
      if (operation !== 'merge' && inputs.some((input) => found.has(input))) found.add(name);
  }
  return found;
}

function readParameters(
  schema: z.ZodType<object>,
  body: unknown,
  path: string[],
  taken: FileRole[],
):
  | Pick<TaskRequest, 'inputs' | 'roles' | 'parameters' | 'secrets' | 'unknownFields'>
  | { errors: FieldErrors; reason: Refusal | undefined } {
  const result = schema.safeParse(body);
  const misspelled = misspelledFields(schema, body, path);
  if (!result.success)
    return { errors: { ...misspelled, ...fieldErrors(result.error, body, path) }, reason: refusalOf(result.error) };
  if (Object.keys(misspelled).length > 0) return { errors: misspelled, reason: 'unknown_field' };
  const { input, ...given } = result.data as JsonObject;
  const inputs = namesOf(input);
  const roles: FileRole[] = [];
  const parameters: JsonObject = {};
  for (const [name, value] of Object.entries(given)) {
    const role = taken.find((known) => known === name);
    if (role === undefined) parameters[name] = value;
    else
      for (const task of namesOf(value)) {
        inputs.push(task);
        roles.push(role);
      }
  }
  return {
    inputs,
    ...defined({ roles: roles.length > 0 ? roles : undefined }),
    ...splitSecrets(parameters),
    unknownFields: unknownFields(schema, body).filter((name) => name !== 'operation'),
  };
}

function namesOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

const maxWarnings = 20;
const maxNameShown = 200;

/** Returns the warnings of a response that list the ignored fields of its request; none if every field is known. */
export function warningsFor(requests: TaskRequest[], unknown: string[] = []): { warnings?: string[] } {
  const ofTasks = requests.flatMap(({ path, unknownFields: names }) =>
    names.map((name) => (path ? `${path}.${name}` : name)),
  );
  const all = [...unknown, ...ofTasks];
  if (all.length === 0) return {};
  const warnings = all.slice(0, all.length > maxWarnings ? maxWarnings - 1 : maxWarnings).map((name) => {
    const short = name.length > maxNameShown ? `${name.slice(0, maxNameShown).toWellFormed()}…` : name;
    return `The field ${JSON.stringify(short)} is unknown and was ignored.`;
  });
  const omitted = all.length - warnings.length;
  if (omitted > 0) warnings.push(`${omitted} more unknown fields were ignored.`);
  return { warnings };
}

const mask = '********';

/** Separates the secrets of parameters and options, and replaces them with a mask. */
function splitSecrets(given: JsonObject): { parameters: JsonObject; secrets: JsonObject } {
  const parameters: JsonObject = {};
  const secrets: JsonObject = {};
  for (const [name, value] of Object.entries(given)) {
    if (isSecret(name)) {
      parameters[name] = mask;
      secrets[name] = value;
    } else if (name === 'options' && value !== null && typeof value === 'object' && !Array.isArray(value)) {
      const options = splitSecrets(value);
      parameters.options = options.parameters;
      if (Object.keys(options.secrets).length > 0) secrets.options = options.secrets;
    } else {
      parameters[name] = value;
    }
  }
  return { parameters, secrets };
}
