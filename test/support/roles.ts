import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogue, engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { makeCredentials } from '../../packages/local-aws/src/iam/credentials.ts';
import type { LocalRole, LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { isProcessing, outputFormatOf, processingOf, roleNames } from '../../shared/operations/operations.ts';
import type { TaskDefinition } from './client.ts';

/** Returns the role of a function by its name in the template without the hash, such as `HttpCancelTask`. */
export function roleOf({ functions }: LocalStack, name: string): LocalRole {
  const found = functions.find(({ logicalId }) => new RegExp(`^${name}Function[0-9A-F]{8}$`).test(logicalId));
  if (!found) throw new Error(`The stack has no function ${name}.`);
  return found.role;
}

/** Returns SDK client options for the role of a function, through the gate like the function itself. */
export async function clientAs(
  { stack, url, dataDirectory }: { stack: LocalStack; url: string; dataDirectory: string },
  name: string,
  service: 's3' | 'sqs' | 'dynamodb',
) {
  const { masterSecret } = JSON.parse(await readFile(join(dataDirectory, 'identity.json'), 'utf8'));
  return {
    region: stack.region,
    endpoint: `http://127.0.0.1:${new URL(url).port}/_aws/${service}`,
    forcePathStyle: true,
    credentials: makeCredentials(masterSecret, roleOf(stack, name)),
    userAgentAppId: 'tests',
  };
}

/** Allows all use of the table, in this process or one it starts, under a function's role. */
export function allowTable(stack: LocalStack): void {
  const arns = stack.tables.flatMap(({ arn }) => [arn, `${arn}/index/*`]);
  roleOf(stack, tableRole).statements.push({
    effect: 'Allow',
    actions: ['dynamodb:*'],
    resources: arns,
    conditions: {},
  });
}

/** Returns the variables by which the records find the table, under a function's role. */
export async function tableVariables(
  service: { stack: LocalStack; url: string; dataDirectory: string },
  name: string = tableRole,
): Promise<Record<string, string>> {
  const { region, endpoint, credentials, userAgentAppId } = await clientAs(service, name, 'dynamodb');
  return {
    LATHE_TABLE: service.stack.tables[0]?.name ?? '',
    AWS_REGION: region,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    AWS_SDK_UA_APP_ID: userAgentAppId,
  };
}

const tableRole = 'LifecycleSweep';

/** Returns the calls that the gate refused, except those that match. */
export function denialsOf({ reports }: { reports: string[] }, except = /^$/): string[] {
  return reports.filter((line) => line.startsWith('refused: ') && !except.test(line));
}

/** Removes an action from a role: on keys or a prefix such as `group#*`, or on a resource with this in its name. */
export function takeAway(role: LocalRole, action: string, what: string): void {
  const isTaken = (text: string) => text === what || (text.startsWith('arn:') && text.includes(what));
  let taken = false;
  for (const statement of role.statements.filter(({ actions }) => actions.includes(action))) {
    const resources = statement.resources.filter((resource) => !isTaken(resource));
    const conditions = Object.fromEntries(
      Object.entries(statement.conditions).map(([operator, keys]) => [
        operator,
        Object.fromEntries(
          Object.entries(keys).map(([key, values]) => [key, values.filter((value) => !isTaken(value))]),
        ),
      ]),
    );
    if (JSON.stringify([resources, conditions]) === JSON.stringify([statement.resources, statement.conditions]))
      continue;
    taken = true;
    statement.actions = statement.actions.filter((candidate) => candidate !== action);
    role.statements.push({ ...statement, actions: [action], resources, conditions });
  }
  if (!taken) throw new Error(`${role.logicalId} never had ${action} on ${what}.`);
}

/** Disables the event sources of functions with matching names. */
export function pauseConsumers(stack: LocalStack, names: RegExp): void {
  stack.queueSources = stack.queueSources.filter((source) => !names.test(source.function.logicalId));
}

/** Matches the functions that consume the queues of engines and of transfers. */
export const workers = /^Engine/;

/** Returns a file without a signature, so that its name decides its format. */
export function fileOf(extension: string): { file: string; filename: string } {
  return {
    file: `data:application/octet-stream;base64,${Buffer.from([1, 2, 3]).toString('base64')}`,
    filename: `a.${extension}`,
  };
}

/** Lists which engine processes files by which operation, each with its own formats and the engine whose queue it uses. */
export function processings(): { operation: string; engine: string; queue: string; from: string; to: string }[] {
  const seen = new Set<string>();
  return engineCatalogues.flatMap(({ engine, worker, capabilities }) =>
    capabilities.flatMap(({ operation, from: [from], to: [to] }) => {
      const key = `${operation} ${engine}`;
      if (seen.has(key) || from === undefined || to === undefined) return [];
      seen.add(key);
      return [{ operation, engine, queue: worker ?? engine, from, to }];
    }),
  );
}

/** Returns the fields that an operation requires in addition to its input, each with this task. */
export function requiredRoles(operation: string, input: string): Record<string, string[]> {
  const { roles = {} } = isProcessing(operation) ? processingOf(operation) : {};
  return Object.fromEntries(roleNames.filter((role) => roles[role] === 'required').map((role) => [role, [input]]));
}

const stores = {
  objstore_a: { bucket: 'none', region: 'us-east-1', access_key_id: 'id', secret_access_key: 'secret', key: 'a' },
  objstore_b: { project_id: 'none', bucket: 'none', client_email: 'a@example.com', private_key: 'secret', file: 'a' },
  blobstore: { container: 'none', storage_account: 'none', storage_access_key: 'secret', blob: 'a' },
  sftp: { host: '203.0.113.1', username: 'nobody', password: 'secret', file_string: 'a' },
};

/** Tasks of every operation without an input; those that access a store have secrets. */
export const imports: TaskDefinition[] = [
  { operation: 'import/upload' },
  { operation: 'import/base64', ...fileOf('png') },
  { operation: 'import/url', url: 'http://203.0.113.1/a', headers: { authorization: 'secret' } },
  { operation: 'import/webpage', url: 'http://203.0.113.1/' },
  ...Object.entries(stores).map(([store, parameters]) => ({ operation: `import/${store}`, ...parameters })),
];

/** Tasks of every operation that exports an input; those that access a store have secrets. */
export const exports = (input: string): TaskDefinition[] => [
  { operation: 'export/url', input: [input] },
  ...Object.entries(stores).map(([store, parameters]) => ({
    operation: `export/${store}`,
    input: [input],
    ...parameters,
  })),
];

/** Tasks of every operation that processes files, with a password if the operation takes one. */
export const withPassword = (input: string): TaskDefinition[] =>
  [...new Set(processings().map(({ operation }) => operation))].map((operation) => {
    if (!isProcessing(operation)) throw new Error(`${operation} processes no files.`);
    const output_format = outputFormatOf(operation, operation === 'trim' ? 'mp3' : undefined, 'pdf');
    const takesPassword = catalogue.optionNames(operation, output_format).includes('password');
    return {
      operation,
      input: operation === 'merge' ? [input, input] : [input],
      ...requiredRoles(operation, input),
      output_format,
      options: takesPassword ? { password: 'secret' } : {},
    };
  });
