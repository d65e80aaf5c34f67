import { startService } from '../support/running-stack.ts';
import { addUserWithTasks } from '../support/user-with-tasks.ts';

const small = 200;
const large = 20_000;
const rounds = 9;
const filters = ['', 'status=completed', 'operation=convert', 'status=failed&operation=convert', 'per_page=200'];

/**
 * Measures listing page 1 for a user with 20,000 tasks against one with 200, with each filter, and the first list of
 * all.
 */
export async function benchLists(): Promise<{
  rows: { name: string; ours: number; bare: number }[];
  firstMs: number[];
}> {
  const service = await startService({ LATHE_RATE_PER_MINUTE: '0' });
  try {
    const [few, many] = [await addUserWithTasks(service, small), await addUserWithTasks(service, large)];
    // Nothing is counted before the first list; the first one with a status also reads the records of failed jobs.
    await list(service.url, few, '');
    const firstMs = [await list(service.url, many, ''), await list(service.url, many, 'status=failed')];
    const rows = [];
    for (const filter of filters) {
      const times: { bare: number[]; ours: number[] } = { bare: [], ours: [] };
      // Alternating, so that other load affects both.
      for (let round = 0; round < rounds; round++) {
        times.bare.push(await list(service.url, few, filter));
        times.ours.push(await list(service.url, many, filter));
      }
      const name = `list page 1, 20,000 against 200 tasks${filter ? ` (${filter})` : ''}`;
      rows.push({ name, ours: median(times.ours), bare: median(times.bare) });
    }
    return { rows, firstMs };
  } finally {
    await service.stop();
  }
}

/** Lists tasks and returns the milliseconds it took. */
async function list(url: string, apiKey: string, filter: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${url}/v1/process/tasks?${filter}`, { headers: { Authorization: `Bearer ${apiKey}` } });
  if (!response.ok) throw new Error(`The list responded with ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  return performance.now() - started;
}

function median(times: number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
}
