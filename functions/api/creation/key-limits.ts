import type { KeyLimits } from '../../../shared/accounts/caller.ts';
import { formatProblem, operationProblem, sizeProblem } from '../../../shared/accounts/limits.ts';
import type { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { detectFormat } from '../../../shared/catalogue/detect.ts';
import { safeName } from '../../../shared/files/names.ts';
import type { FieldErrors } from '../../../shared/operations/problems.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { knownFormat, type TaskRequest } from './plan.ts';

interface Known {
  /** Files sent with the request, by task name. */
  contents: Map<string, Uint8Array>;
  /** Earlier tasks used as inputs, by id. */
  outside: Map<string, Task>;
  catalogue: Catalogue;
}

/** Returns the fields that the limits of the key forbid. Properties of imported files are checked after the import. */
export async function limitProblems(requests: TaskRequest[], limits: KeyLimits, known: Known): Promise<FieldErrors> {
  if (Object.keys(limits).length === 0) return {};
  const byName = new Map(requests.map((request) => [request.name, request]));
  const errors: [string, string[]][] = [];
  for (const request of requests) {
    const field = (name: string) => (request.path ? `${request.path}.${name}` : name);
    const problems: [string, string | undefined][] = [
      ['operation', operationProblem(limits, request.operation)],
      ['file', await contentProblem(request, limits, known)],
      ['url', request.operation === 'import/webpage' ? formatProblem(limits, 'html') : undefined],
      ...['input_format', 'output_format'].map((name): [string, string | undefined] => {
        const format = request.parameters[name];
        return [
          name,
          typeof format === 'string' ? formatProblem(limits, known.catalogue.canonical(format)) : undefined,
        ];
      }),
      ...request.inputs.map((input): [string, string | undefined] => {
        const format = knownFormat(input, byName, known.outside);
        return ['input', format && formatProblem(limits, known.catalogue.canonical(format))];
      }),
    ];
    for (const [name, problem] of problems) if (problem !== undefined) errors.push([field(name), [problem]]);
  }
  return Object.fromEntries(errors);
}

async function contentProblem(
  { name, parameters }: TaskRequest,
  limits: KeyLimits,
  { contents, catalogue }: Known,
): Promise<string | undefined> {
  const content = contents.get(name);
  if (!content) return undefined;
  const format = await detectFormat(catalogue, content, safeName(String(parameters.filename)));
  return sizeProblem(limits, content.byteLength) ?? formatProblem(limits, catalogue.canonical(format));
}
