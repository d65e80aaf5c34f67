import { groupOfId } from '../../../shared/ids.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import type { CountedHour } from '../../../shared/lists/counts.ts';
import type { GroupSummary } from '../../../shared/lists/group-summary.ts';
import { hourOfSlot, mayBeCounted, slotOfId } from '../../../shared/lists/slots.ts';
import type { OwnedRecords } from '../../../shared/lists/view.ts';
import { hasEnded, isDeletedOrExpired, isTask, type Task } from '../../../shared/tasks/task.ts';

/** The records of an owner in memory, with an index that lags behind them. */
export class MemoryOwned implements OwnedRecords {
  now: number;
  readonly #tasks = new Map<string, Task>();
  readonly #jobs = new Map<string, Job>();
  /** The states of each group, with the time from which the index shows it. */
  readonly #index = new Map<string, { from: number; group: GroupSummary | undefined }[]>();
  readonly #hours = new Map<number, string>();
  /** How many groups, tasks and jobs were read, and hours written. */
  reads = { groups: 0, queries: 0, tasks: 0, jobs: 0 };
  saves = 0;
  /** Runs before an hour is saved, as whatever comes between. */
  beforeSave: () => void = () => {};
  lagMs = 0;

  constructor(now: number) {
    this.now = now;
  }

  /** Writes records, as they are created or after a change. */
  write({ job, tasks }: Plan): void {
    for (const task of tasks) this.#tasks.set(task.id, task);
    if (job) this.#jobs.set(job.id, job);
    for (const record of job ? [job] : tasks) this.#show(record);
  }

  /** Deletes a job or a task as the records do: announces the deletion if it may be counted, then writes it. */
  delete(id: string): void {
    const job = this.#jobs.get(id);
    const task = this.#tasks.get(id);
    if (mayBeCounted(slotOfId(id), this.now)) this.#announce(id);
    if (job) {
      for (const own of job.tasks) this.#tasks.delete(own);
      this.#jobs.delete(id);
      this.#add(id, undefined);
    }
    if (!task) return;
    this.#tasks.delete(id);
    const owner = task.job === undefined ? undefined : this.#jobs.get(task.job);
    if (owner) this.write({ job: { ...owner, gone: [...(owner.gone ?? []), `${task.operation} ${id}`] }, tasks: [] });
    else this.#add(id, undefined);
  }

  job(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  task(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** Returns what lists show: all tasks of jobs that exist, and all without one, in the order of lists. */
  all(): { tasks: Task[]; jobs: Job[] } {
    const alive = <T extends { status: string; expiresAt: string }>(record: T) => !isDeletedOrExpired(record, this.now);
    const groupIdOf = (task: Task) => task.job ?? task.id;
    const order = (left: string, right: string) => (left < right ? 1 : -1);
    return {
      jobs: [...this.#jobs.values()].filter(alive).sort((left, right) => order(left.id, right.id)),
      tasks: [...this.#tasks.values()]
        .filter(alive)
        .sort((left, right) =>
          groupIdOf(left) === groupIdOf(right) ? order(left.id, right.id) : order(groupIdOf(left), groupIdOf(right)),
        ),
    };
  }

  groups: OwnedRecords['groups'] = async ({ kind, range, limit, tag, isUncompleted }) => {
    const found = [...this.#index]
      .filter(([id]) => id >= range.from && id < range.to)
      .flatMap(([, states]) => states.findLast((state) => state.from <= this.now)?.group ?? [])
      .filter((group) => group.kind === kind && !(isUncompleted && group.endStatus === 'completed'))
      .filter(({ expiresAt, id }) => Date.parse(expiresAt) > this.now && this.#isTagged(id, tag))
      .sort((left, right) => (left.id < right.id ? 1 : -1))
      .slice(0, limit);
    this.reads.groups += found.length;
    this.reads.queries += 1;
    return found;
  };

  tasks: OwnedRecords['tasks'] = async (ids) => {
    this.reads.tasks += ids.length;
    return ids.flatMap((id) => this.#tasks.get(id) ?? []);
  };

  jobs: OwnedRecords['jobs'] = async (ids) => {
    this.reads.jobs += ids.length;
    return ids.flatMap((id) => this.#jobs.get(groupOfId(id)) ?? []);
  };

  hours: OwnedRecords['hours'] = async (oldest, newest) =>
    [...this.#hours].flatMap(([hour, text]) => (hour >= oldest && hour <= newest ? [parseHour(hour, text)] : []));

  saveHour: OwnedRecords['saveHour'] = async (hour) => {
    this.beforeSave();
    const stored = parseHour(hour.hour, this.#hours.get(hour.hour));
    if (stored.version !== hour.version) return false;
    this.#store({ ...hour, version: hour.version + 1, changedAt: stored.changedAt });
    this.saves += 1;
    return true;
  };

  #announce(id: string): void {
    const hour = hourOfSlot(slotOfId(id));
    const stored = parseHour(hour, this.#hours.get(hour));
    stored.changedAt.set(slotOfId(id), this.now);
    this.#store({ ...stored, version: stored.version + 1 });
  }

  #store({ hour, version, slots, changedAt }: CountedHour): void {
    this.#hours.set(hour, JSON.stringify({ version, slots: [...slots], changedAt: [...changedAt] }));
  }

  #isTagged(id: string, tag: string | undefined): boolean {
    return tag === undefined || (this.#jobs.get(id)?.tag?.includes(tag) ?? false);
  }

  #show(record: Task | Job): void {
    const isOne = isTask(record);
    this.#add(record.id, {
      id: record.id,
      kind: isOne ? 'task' : 'job',
      expiresAt: record.expiresAt,
      ...(hasEnded({ status: record.status }) ? { endStatus: record.status } : {}),
      operations: isOne ? { [record.operation]: 1 } : record.operations,
      gone: isOne ? [] : (record.gone ?? []),
    });
  }

  #add(id: string, group: GroupSummary | undefined): void {
    const states = this.#index.get(id) ?? [];
    // The index applies changes in their order.
    const from = Math.max(this.now + this.lagMs, states.at(-1)?.from ?? 0);
    this.#index.set(id, [...states, { from, group }]);
  }
}

function parseHour(hour: number, text: string | undefined): CountedHour {
  const { version, slots, changedAt } = JSON.parse(text ?? '{"version":0,"slots":[],"changedAt":[]}');
  return { hour, version, slots: new Map(slots), changedAt: new Map(changedAt) };
}
