import { sendEvents } from '../events.ts';
import { type Key, put, queryPartition, remove } from '../table.ts';
import { partitions } from '../table-schema.ts';

const connectionKey = (keyHash: string, connection: string): Key => ({
  pk: `${partitions.keyConnection}${keyHash}`,
  sk: connection,
});

/** Records that a connection was opened with a key, until a time in seconds. */
export async function noteConnection(keyHash: string, connection: string, ttl: number): Promise<void> {
  await put({ ...connectionKey(keyHash, connection), ttl });
}

/** Removes the record of a closed connection. */
export async function forgetConnection(keyHash: string, connection: string): Promise<void> {
  await remove(connectionKey(keyHash, connection));
}

/** Closes the connections of a key. One that is just being opened is closed when it next sends or receives. */
export async function closeConnections(keyHash: string): Promise<void> {
  const open = await queryPartition(`${partitions.keyConnection}${keyHash}`);
  await sendEvents(open.map(({ sk }) => ({ type: 'abandoned', connection: String(sk) })));
}
