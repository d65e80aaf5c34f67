import { type FieldErrors, invalidFields } from '../http/errors.ts';
import { fieldErrors } from '../http/validate.ts';
import type { TaskRequest } from '../tasks/plan.ts';
import type { JsonObject } from '../tasks/task.ts';
import { isOperation, type OperationName, operationNames, operationSchemas } from './schemas.ts';

/** More tasks than any workflow needs; their ids fit the job's record, and their records one request. */
export const mostTasksInJob = 500;

const taskName = /^[A-Za-z0-9_-]{1,100}$/;

/** Reads a request to an operation's own endpoint, or throws the 400. */
export function readTaskRequest(operation: OperationName, body: unknown): TaskRequest {
  const read = readParameters(operation, body, []);
  if ('errors' in read) throw invalidFields(read.errors);
  return { name: operation, operation, path: '', ...read };
}

/** Reads the tasks of a job, or throws the 400 that names every task and field to blame. */
export function readJobTasks(tasks: Record<string, unknown>): TaskRequest[] {
  const entries = Object.entries(tasks);
  if (entries.length === 0) throw invalidFields({ tasks: ['Expected at least one task.'] });
  if (entries.length > mostTasksInJob)
    throw invalidFields({ tasks: [`Expected at most ${mostTasksInJob} tasks but received ${entries.length}.`] });
  const errors: [string, string[]][] = [];
  const requests = entries.flatMap(([name, definition]): TaskRequest[] => {
    const path = `tasks.${name}`;
    if (!taskName.test(name)) {
      errors.push([
        path,
        [
          `Expected a task name of 1 to 100 letters, digits, dashes and underscores but received ${JSON.stringify(name.slice(0, 100))}.`,
        ],
      ]);
      return [];
    }
    if (definition === null || typeof definition !== 'object' || Array.isArray(definition)) {
      errors.push([path, ['Expected an object with the operation of the task and its parameters.']]);
      return [];
    }
    const operation = 'operation' in definition ? definition.operation : undefined;
    if (typeof operation !== 'string' || !isOperation(operation)) {
      errors.push([
        `${path}.operation`,
        [`Expected one of ${operationNames.join(', ')} but received ${JSON.stringify(operation)?.slice(0, 100)}.`],
      ]);
      return [];
    }
    const read = readParameters(operation, definition, ['tasks', name]);
    if ('errors' in read) {
      errors.push(...Object.entries(read.errors));
      return [];
    }
    return [{ name, operation, path, ...read }];
  });
  if (errors.length > 0) throw invalidFields(Object.fromEntries(errors));
  return requests;
}

function readParameters(
  operation: OperationName,
  body: unknown,
  path: string[],
): { inputs: string[]; parameters: JsonObject } | { errors: FieldErrors } {
  const result = operationSchemas[operation].safeParse(body);
  if (!result.success) return { errors: fieldErrors(result.error, path) };
  const { input, ...parameters } = { input: [], ...result.data } as { input: string[] } & JsonObject;
  return { inputs: input, parameters };
}
