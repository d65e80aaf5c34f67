import { batchGet, type Key, put, toAttributes } from './table.ts';
import { partitions } from './table-schema.ts';

/** Which barriers stand between an engine's programs and the rest of its machine, by name. */
export type BarrierStates = Record<string, { stands: true } | { stands: false; reason: string }>;

/** What an engine last reported about itself. */
export interface EngineState {
  barriers: BarrierStates;
  /** ISO 8601. */
  reportedAt: string;
}

/** What this process has written, so that a report that says nothing new costs nothing. */
const written = new Map<string, string>();

/** Records what an engine reports, if it differs from what this process recorded last. */
export async function writeEngineState(engine: string, barriers: BarrierStates): Promise<void> {
  const text = JSON.stringify(barriers);
  if (written.get(engine) === text) return;
  await put(stateOf(engine, barriers));
  written.set(engine, text);
}

/** Returns the item that records the state of an engine, for a client other than that of the functions. */
export function engineStateItem(engine: string, barriers: BarrierStates) {
  return toAttributes(stateOf(engine, barriers));
}

/** Returns what engines last reported; those that never did are left out. */
export async function readEngineStates(engines: string[]): Promise<Map<string, EngineState>> {
  const items = await batchGet(engines.map(keyOf), { consistent: false });
  return new Map(
    items.flatMap(({ pk, state }) =>
      typeof pk === 'string' && typeof state === 'string'
        ? [[pk.slice(partitions.engine.length), JSON.parse(state)]]
        : [],
    ),
  );
}

function stateOf(engine: string, barriers: BarrierStates) {
  const state: EngineState = { barriers, reportedAt: new Date().toISOString() };
  return { ...keyOf(engine), state: JSON.stringify(state) };
}

function keyOf(engine: string): Key {
  return { pk: `${partitions.engine}${engine}`, sk: 'state' };
}
