import { ownedRecords } from '../../../shared/aws/stores/owned-records.ts';
import type { ListPage, ListWindow, OwnedRecords } from '../../../shared/lists/view.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';

const defaultPerPage = 50;

/** Returns a page of a user's records, newest first, in the envelope of the spec. */
export async function listPage<T>(
  user: string,
  paging: { per_page?: number | undefined; page?: number | undefined },
  read: (owned: OwnedRecords, window: ListWindow) => Promise<ListPage<T>>,
  present: (records: T[]) => Promise<JsonObject[]>,
): Promise<JsonObject> {
  const now = Date.now();
  const limit = paging.per_page ?? defaultPerPage;
  const page = paging.page ?? 1;
  const skip = (page - 1) * limit;
  const window = { now, oldest: now - settings.recordSeconds * 1000, skip, limit };
  const { docs, total: totalDocs } = await read(ownedRecords(user, now), window);
  const totalPages = Math.max(1, Math.ceil(totalDocs / limit));
  return {
    docs: await present(docs),
    totalDocs,
    limit,
    totalPages,
    page,
    pagingCounter: skip + 1,
    hasPrevPage: page > 1,
    hasNextPage: page < totalPages,
    prevPage: page > 1 ? page - 1 : null,
    nextPage: page < totalPages ? page + 1 : null,
  };
}
