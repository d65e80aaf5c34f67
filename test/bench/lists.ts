import { newId } from '../../shared/ids.ts';
import type { Task } from '../../shared/tasks/task.ts';
import { addUser, startService } from '../support/running-stack.ts';

const small = 200;
const large = 20_000;
const rounds = 5;
const filters = ['', 'status=completed', 'operation=convert', 'status=failed&operation=convert', 'per_page=200'];

/** Measures listing page 1 for a user with 20,000 tasks against one with 200, with each filter. */
export async function benchLists(): Promise<{ name: string; ours: number; bare: number }[]> {
  const service = await startService({ LATHE_RATE_PER_MINUTE: '0' });
  try {
    const caller = await service.as('functions/api/jobs/create-job.ts');
    const { credentials, endpoint, region } = caller.client('dynamodb');
    const [table] = caller.stack.tables;
    Object.assign(process.env, {
      AWS_REGION: region,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      LATHE_TABLE: table?.name,
    });
    // The records read their table from the environment when they are loaded.
    const { records } = await import('../../shared/aws/records.ts');
    const keyOf = async (count: number): Promise<string> => {
      const user = newId();
      const apiKey = await addUser(
        { url: service.url, dataDirectory: service.dataDirectory, stack: caller.stack },
        user,
      );
      for (let written = 0; written < count; written += 1_000) {
        await records.createTasks(
          Array.from({ length: Math.min(1_000, count - written) }, (_, index) => task(user, written + index)),
        );
      }
      return apiKey;
    };
    const [few, many] = [await keyOf(small), await keyOf(large)];
    const results = [];
    for (const filter of filters) {
      const bare = await median(() => list(service.url, few, filter));
      const ours = await median(() => list(service.url, many, filter));
      results.push({ name: `list page 1, 20,000 against 200 tasks${filter ? ` (${filter})` : ''}`, ours, bare });
    }
    return results;
  } finally {
    await service.stop();
  }
}

async function list(url: string, apiKey: string, filter: string): Promise<void> {
  const answer = await fetch(`${url}/v1/process/tasks?${filter}`, { headers: { Authorization: `Bearer ${apiKey}` } });
  if (!answer.ok) throw new Error(`The list was answered with ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

async function median(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    await work();
    // The first round warms the function up.
    if (round > 0) times.push(performance.now() - started);
  }
  return times.sort((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
}

const statuses = ['completed', 'completed', 'completed', 'failed', 'canceled'] as const;
const operations = ['import/upload', 'convert', 'export/url'];

/** Makes a task as records hold it, one of many over the last hours. */
function task(user: string, index: number): Task {
  const created = Date.now() - (index % 20_000) * 4_000;
  const timestamp = new Date(created).toISOString();
  return {
    id: newId(created),
    user,
    name: `task-${index}`,
    operation: operations[index % operations.length] ?? 'convert',
    status: statuses[index % statuses.length] ?? 'completed',
    payload: { output_format: 'webp', options: { quality: 80 } },
    dependsOn: [],
    waitsFor: [],
    dependents: [],
    job: newId(created),
    files: [],
    attempt: 1,
    createdAt: timestamp,
    startedAt: timestamp,
    endedAt: timestamp,
    updatedAt: timestamp,
    expiresAt: new Date(created + 86_400_000).toISOString(),
    version: 3,
  };
}
