/**
 * Reads the failed message ids from a function's response. Lambda treats an empty response as full success, and a
 * malformed one as failure of the whole batch, which is `undefined` here.
 */
export function failedMessageIds(response: unknown, sent: ReadonlySet<string>): Set<string> | undefined {
  if (response === null || response === undefined) return new Set();
  if (typeof response !== 'object') return undefined;
  if (!('batchItemFailures' in response)) return Object.keys(response).length === 0 ? new Set() : undefined;
  const { batchItemFailures: failures } = response;
  if (failures === null) return new Set();
  if (!Array.isArray(failures)) return undefined;
  const ids = failures.map(identifierOf);
  return ids.every((id) => id !== undefined && sent.has(id))
    ? new Set(ids.filter((id) => id !== undefined))
    : undefined;
}

function identifierOf(failure: unknown): string | undefined {
  if (typeof failure !== 'object' || failure === null || !('itemIdentifier' in failure)) return undefined;
  return typeof failure.itemIdentifier === 'string' ? failure.itemIdentifier : undefined;
}
