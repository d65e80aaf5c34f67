import { batchGet, type Key, put, toAttributes } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** Which barriers stand between an engine's programs and the rest of its machine, by name. */
export type BarrierStates = Record<string, { stands: true } | { stands: false; reason: string }>;

/** What an engine last reported about itself. */
export interface EngineState {
  barriers: BarrierStates;
  /** ISO 8601. */
  reportedAt: string;
}

/** Last state written by this process, so that unchanged reports are not written again. */
const written = new Map<string, string>();

/** Records an engine's report if it differs from the last one of this process. */
export async function writeEngineState(engine: string, barriers: BarrierStates): Promise<void> {
  const text = JSON.stringify(barriers);
  if (written.get(engine) === text) return;
  await put(stateOf(engine, barriers));
  written.set(engine, text);
}

/** Returns the item that records the state of an engine, for tools with a client of their own. */
export function engineStateItem(engine: string, barriers: BarrierStates) {
  return toAttributes(stateOf(engine, barriers));
}

/** Returns the last reports of engines, without those that never reported. */
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
