import { deleteKeys } from '../../../shared/aws/objects.ts';
import { postedKey, postedPrefix, type RunName } from '../../../shared/files/keys.ts';
import { totalBytes } from '../../../shared/files/total-bytes.ts';
import type { StoredFile } from '../../../shared/tasks/task.ts';
import { outOfDisk } from '../../engines/runtime/outputs.ts';
import { pageFileName } from '../../engines/runtime/pages.ts';
import type { EngineResponse, PartRequest } from '../../engines/runtime/protocol.ts';
import { checkPosted, keepPosted, storedOf } from '../../invocation/keep-outputs.ts';
import { invalidResponse } from '../../invocation/parse-response.ts';
import type { RunPlan } from '../../invocation/plan-run.ts';
import type { Run } from '../worker.ts';
import type { PartStates } from './part-states.ts';
import { type PagesPlan, selectedPages } from './plan-pages.ts';
import { type FinishedPart, keepPart } from './stored-runs.ts';

type Done = Extract<EngineResponse, { type: 'done' }>;

/** The files of a run that is split by pages: one for each page, with the names that a whole run gives them. */
export class PageFiles {
  readonly #run: Pick<Run, 'task' | 'attempt' | 'signal'>;
  readonly #plan: RunPlan;
  readonly #names: string[];

  constructor(run: Pick<Run, 'task' | 'attempt' | 'signal'>, plan: RunPlan, split: PagesPlan) {
    const name = plan.files[0]?.name ?? '';
    this.#run = run;
    this.#plan = plan;
    this.#names = selectedPages(plan, split.pages).map((page) =>
      pageFileName(name, plan.outputFormat, page, split.pages),
    );
  }

  /**
   * Adds the files that an engine posted for a part to the set of the task. They are not moved: a form that is still valid
   * could only replace them by a version with another tag, which is not copied.
   */
  async keepPart(
    name: string,
    request: PartRequest,
    posted: RunName,
    done: Done,
    states: PartStates,
  ): Promise<FinishedPart> {
    if (request.kind !== 'pages') throw new Error(`The part ${name} has no pages.`);
    const { from } = request;
    const { task, signal } = this.#run;
    const outputs = storedOf(done.outputs);
    for (const [index, output] of outputs.entries())
      if (output.name !== this.#names[from + index])
        throw invalidResponse(`Expected the output ${this.#names[from + index]} but received ${output.name}.`);
    const files = await checkPosted({ task, attempt: posted, signal }, outputs);
    const size = totalBytes(files);
    const { maxOutputBytes } = this.#plan;
    if (size + states.bytes(name) > maxOutputBytes) throw outOfDisk(maxOutputBytes);
    const own: FinishedPart = {
      key: postedPrefix(task.id, posted),
      size,
      format: this.#plan.outputFormat,
      ms: done.engineMs,
      tags: files.map(({ etag }) => etag),
    };
    const kept = await keepPart(task, name, own);
    if (kept.key !== own.key) await deleteKeys(outputs.map((_, index) => postedKey(task.id, posted, index)));
    return kept;
  }

  /** Copies the files of all parts, in order, out of the reach of their forms. */
  collect(states: PartStates): Promise<StoredFile[]> {
    const files = states
      .outputs('pages')
      .flatMap(({ key, format, tags = [] }) => tags.map((etag, index) => ({ key: `${key}${index}`, etag, format })));
    if (files.length !== this.#names.length)
      throw new Error(`Expected ${this.#names.length} files of pages but the parts have ${files.length}.`);
    return keepPosted(
      this.#run,
      files.map((file, index) => ({ ...file, name: this.#names[index] ?? '' })),
      this.#plan.maxOutputBytes,
    );
  }
}
