import { randomUUID } from 'node:crypto';
import type { LocalEventBus } from '../template/model.ts';

/** An event as rules of the bus see it. */
export interface BusEvent {
  id: string;
  bus: string;
  source: string;
  detailType: string;
  detail: unknown;
}

export interface EventBuses {
  /** Handles PutEvents: each entry is accepted or refused individually. */
  put(input: Record<string, unknown>): Record<string, unknown>;
  onEvent(listener: (event: BusEvent) => void): void;
}

/** EventBridge's limit for an entry. */
const maxEntryBytes = 1024 * 1024;

/** Starts the buses of the template. Nothing is stored, as in EventBridge without matching rules. */
export function startEventBuses(buses: LocalEventBus[]): EventBuses {
  const listeners = new Set<(event: BusEvent) => void>();
  const names = new Map(buses.flatMap(({ name, arn }) => [[name, name] as const, [arn, name] as const]));

  function take(entry: unknown): Record<string, string> {
    const { EventBusName, Source, DetailType, Detail } = Object.fromEntries(Object.entries(Object(entry)));
    const bus = names.get(String(EventBusName));
    if (!bus) return refuse('NotAuthorizedForSourceException', `There is no event bus ${String(EventBusName)}.`);
    if (typeof Source !== 'string' || typeof DetailType !== 'string' || typeof Detail !== 'string')
      return refuse('InvalidArgument', 'Source, DetailType and Detail are required.');
    if (Buffer.byteLength(Detail) + Source.length + DetailType.length > maxEntryBytes)
      return refuse('InvalidArgument', 'Total size of the entry exceeds the limit.');
    const event = { id: randomUUID(), bus, source: Source, detailType: DetailType, detail: JSON.parse(Detail) };
    for (const listener of listeners) listener(event);
    return { EventId: event.id };
  }

  return {
    put(input) {
      const entries = (Array.isArray(input.Entries) ? input.Entries : []).map(take);
      return { FailedEntryCount: entries.filter((entry) => 'ErrorCode' in entry).length, Entries: entries };
    },
    onEvent(listener) {
      listeners.add(listener);
    },
  };
}

function refuse(ErrorCode: string, ErrorMessage: string): Record<string, string> {
  return { ErrorCode, ErrorMessage };
}
