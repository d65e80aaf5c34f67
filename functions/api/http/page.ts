import { type OwnedFilter, ownedPage } from '../../../shared/aws/owned-records.ts';
import { isDeletedOrExpired, type JsonObject } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';

const defaultPerPage = 50;

interface Listed {
  id: string;
  status: string;
  expiresAt: string;
}

/** Reads a page of an owner's records, newest first, in the envelope of the spec. */
export async function listPage<T extends Listed>(
  paging: { per_page?: number | undefined; page?: number | undefined },
  source: Pick<OwnedFilter, 'owner' | 'equal' | 'contains'> & {
    read(ids: string[]): Promise<T[]>;
    present(records: T[]): Promise<JsonObject[]>;
  },
): Promise<JsonObject> {
  const now = Date.now();
  const limit = paging.per_page ?? defaultPerPage;
  const page = paging.page ?? 1;
  const skipped = (page - 1) * limit;
  const filter: OwnedFilter = { ...source, now, oldest: now - settings.recordSeconds * 1000 };
  const { total: totalDocs, ids } = await ownedPage(filter, skipped, limit);
  const found = new Map((ids.length > 0 ? await source.read(ids) : []).map((record) => [record.id, record]));
  const records = ids.flatMap((id) => {
    const record = found.get(id);
    return record && !isDeletedOrExpired(record, now) ? [record] : [];
  });
  const totalPages = Math.max(1, Math.ceil(totalDocs / limit));
  return {
    docs: await source.present(records),
    totalDocs,
    limit,
    totalPages,
    page,
    pagingCounter: skipped + 1,
    hasPrevPage: page > 1,
    hasNextPage: page < totalPages,
    prevPage: page > 1 ? page - 1 : null,
    nextPage: page < totalPages ? page + 1 : null,
  };
}
