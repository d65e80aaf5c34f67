import type { Speeds } from '../../tasks/speeds.ts';
import { get, type Key, put } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** A conversion that is measured. Their number is bounded by the pairs of the catalogue. */
interface Conversion {
  engine: string;
  operation: string;
  /** Canonical extensions. */
  from: string;
  to: string;
}

const keptSeconds = 90 * 86_400;

/** Reads the measured speeds of a conversion. */
export async function readSpeeds(conversion: Conversion): Promise<Speeds> {
  const { speeds } = (await get(keyOf(conversion), { consistent: false })) ?? {};
  return typeof speeds === 'string' ? JSON.parse(speeds) : {};
}

/** Writes the measured speeds of a conversion. If two workers do so at once, one run does not count. */
export function writeSpeeds(conversion: Conversion, speeds: Speeds): Promise<void> {
  const ttl = Math.ceil(Date.now() / 1000) + keptSeconds;
  return put({ ...keyOf(conversion), speeds: JSON.stringify(speeds), ttl });
}

function keyOf({ engine, operation, from, to }: Conversion): Key {
  return { pk: `${partitions.engine}${engine}`, sk: `speed#${operation}#${from}>${to}` };
}
