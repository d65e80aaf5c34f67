import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { durationText } from '../format.ts';
import { Graph, type GraphNode } from '../jobs/graph.tsx';
import { Field } from '../parts/field.tsx';
import { useAction, useLoaded } from '../parts/load.ts';
import { Empty, Problem } from '../parts/notice.tsx';
import { Secret, View } from '../parts/view.tsx';
import { go } from '../router.ts';
import type { Job } from '../service/types.ts';
import { type Check, useCheck } from './check.ts';
import { CodeTabs } from './code-tabs.tsx';
import { type Draft, draftOf, emptyDraft, type FieldProblem, parseJob, sourcesOf, withNewTask } from './draft.ts';
import { type Description, type Operation, operationsOf } from './operations.ts';
import { runDraft } from './run.ts';
import { draft, focusOn, openTask, replaceDraft, storeDraft, undoable } from './state.ts';
import { problemText, TaskCard } from './task-card.tsx';
import { templates } from './templates.ts';

/** Shows the job builder. */
export function Builder() {
  const loaded = useLoaded<Description>('/v1/openapi.json');
  return (
    <View title="Job builder" lead="Combine tasks into a job, then run it or copy it as code." from={loaded}>
      {(description) => <Workbench description={description} />}
    </View>
  );
}

/** Shared, so that tasks without problems are not rendered again. */
const noProblems: FieldProblem[] = [];

function Workbench({ description }: { description: Description }) {
  const operations = useMemo(() => operationsOf(description), [description]);
  const current = draft.value;
  const check = useCheck(current);
  // Before the next frame, which a tab in the background may not draw before it is reloaded.
  useLayoutEffect(() => {
    const isSecret = (operation: string, parameter: string) =>
      operations.some(
        ({ name, parameters }) =>
          name === operation && parameters.some((each) => each.name === parameter && each.kind === 'secret'),
      );
    storeDraft(current, isSecret);
  }, [current, operations]);
  return (
    <>
      <Start />
      {current.tasks.length === 0 ? (
        <div class="card">
          <Empty title="No tasks yet">
            <p>Start from a template, or add a task.</p>
          </Empty>
        </div>
      ) : (
        <Overview current={current} check={check} />
      )}
      <section class="stack" aria-labelledby="tasks">
        <h2 id="tasks">Tasks</h2>
        {current.tasks.length > 0 && (
          <ol class="stack bare">
            {current.tasks.map((task) => (
              <TaskCard
                key={task.key}
                task={task}
                operation={operations.find(({ name }) => name === task.operation)}
                problems={check.byTask.get(task.key) ?? noProblems}
              />
            ))}
          </ol>
        )}
        <AddTask operations={operations} />
      </section>
      {current.tasks.length > 0 && (
        <>
          <JobSettings current={current} />
          <section class="stack" aria-labelledby="as-code">
            <h2 id="as-code">Code</h2>
            <CodeTabs draft={current} />
          </section>
        </>
      )}
    </>
  );
}

/** Offers templates, and accepts a job as JSON. */
function Start() {
  const problem = useSignal('');
  const text = useRef<HTMLTextAreaElement>(null);
  const before = undoable.value;
  const read = () => {
    try {
      replaceDraft(parseJob(text.current?.value ?? ''));
      problem.value = '';
      if (text.current) text.current.value = '';
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <div class="card stack">
      <fieldset>
        <legend>Start from</legend>
        <div class="row">
          {templates.map(({ title, job }) => (
            <button key={title} type="button" onClick={() => replaceDraft(draftOf(job))}>
              {title}
            </button>
          ))}
        </div>
      </fieldset>
      <details>
        <summary>Paste a job as JSON</summary>
        <div class="stack">
          <Field id="pasted" label="JSON" problem={problem.value}>
            {(attributes) => <textarea {...attributes} ref={text} rows={6} spellcheck={false} class="mono" />}
          </Field>
          <div>
            <button type="button" onClick={read}>
              Use this JSON
            </button>
          </div>
        </div>
      </details>
      {before && (
        <div class="row small" role="status">
          <span class="quiet">The previous job was replaced.</span>
          <button type="button" class="plain" onClick={() => replaceDraft(before)}>
            Undo
          </button>
        </div>
      )}
    </div>
  );
}

/** Shows the draft as a graph with the result of its check, and runs it. */
function Overview({ current, check }: { current: Draft; check: Check }) {
  const { problem, run } = useAction();
  const progress = useSignal<number | undefined>(undefined);
  const stop = useRef(new AbortController());
  const created = useSignal<Job | undefined>(undefined);
  const nodes = current.tasks.map((task): GraphNode => {
    const { key, name, operation, parameters } = task;
    const format = typeof parameters.output_format === 'string' ? ` → ${parameters.output_format}` : '';
    const isWrong = check.byTask.has(key);
    return {
      ...{ id: key, dependsOn: sourcesOf(task), title: name, detail: operation + format, link: `#${key}` },
      state: isWrong ? 'failed' : 'created',
    };
  });
  const mayRun = check.estimate && check.isCurrent;
  const start = () =>
    run(async () => {
      const empty = current.tasks.find(({ operation, file }) => operation === 'import/upload' && !file);
      if (empty) {
        focusOn(`${empty.key}-upload`);
        throw new Error(`Choose a file for ${empty.name} first.`);
      }
      stop.current = new AbortController();
      progress.value = 0;
      try {
        const job = await runDraft(
          current,
          (share) => {
            progress.value = share;
          },
          stop.current.signal,
        );
        // The secret cannot be shown again, so the page does not go to the job yet.
        if (job.webhook) created.value = job;
        else go(`/jobs/${job.id}`);
      } finally {
        progress.value = undefined;
      }
    });
  return (
    <div class="card stack">
      <Graph tasks={nodes} onFollow={openTask} />
      <div class="row apart">
        <Verdict check={check} />
        <div class="row">
          <button type="button" class="plain" onClick={() => replaceDraft(emptyDraft)}>
            Clear
          </button>
          {progress.value === undefined ? (
            <button type="button" class="main" disabled={!mayRun} onClick={() => void start()}>
              Run job
            </button>
          ) : (
            <button type="button" onClick={() => stop.current.abort()}>
              Cancel
            </button>
          )}
        </div>
      </div>
      {progress.value !== undefined && <progress aria-label="Upload" value={progress.value} />}
      {check.others.length > 0 && <Problem text={check.others.join(' ')} />}
      {problem.value !== '' && <Problem text={problem.value} />}
      {created.value?.webhook && (
        <>
          <Secret
            value={created.value.webhook.secret}
            label="The job was created. This is the signing secret of its webhook."
          />
          <div>
            <a class="button" href={`/jobs/${created.value.id}`}>
              Show job
            </a>
          </div>
        </>
      )}
    </div>
  );
}

function Verdict({ check: { isCurrent, estimate, byTask, others } }: { check: Check }) {
  const count = [...byTask.values()].reduce((sum, problems) => sum + problems.length, others.length);
  return (
    <span role="status" class="small">
      {count > 0 ? (
        <span class="wrong">{problemText(count)}</span>
      ) : !isCurrent || !estimate ? (
        <span class="quiet">Checking …</span>
      ) : (
        <>
          Valid. <span class="quiet">{estimateText(estimate)}</span>
        </>
      )}
    </span>
  );
}

function estimateText({ conversionSeconds, remainingMinutes }: NonNullable<Check['estimate']>): string {
  const time = `About ${durationText(conversionSeconds)} of conversion time`;
  return remainingMinutes === null
    ? `${time}.`
    : `${time} of the ${durationText(remainingMinutes * 60)} left this month.`;
}

/** Adds a task for any operation of the service. */
function AddTask({ operations }: { operations: Operation[] }) {
  const chosen = useSignal('');
  const groups = [...Map.groupBy(operations, ({ group }) => group)];
  const add = () => {
    const operation = operations.find(({ name }) => name === chosen.value);
    if (!operation) return;
    draft.value = withNewTask(draft.value, operation);
    const { key = '' } = draft.value.tasks.at(-1) ?? {};
    openTask(key);
    focusOn(`${key}-task-name`);
  };
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <select
        id="operation"
        aria-label="Operation of the new task"
        class="grow"
        value={chosen.value}
        onChange={({ currentTarget }) => {
          chosen.value = currentTarget.value;
        }}
      >
        <option value="">Choose an operation</option>
        {groups.map(([group, own]) => (
          <optgroup key={group} label={group}>
            {own.map(({ name, summary }) => (
              <option key={name} value={name}>
                {summary}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <button type="submit" disabled={chosen.value === ''}>
        Add task
      </button>
    </form>
  );
}

const settings = [
  { name: 'tag', label: 'Tag', hint: 'A label for finding the job later.' },
  { name: 'webhook_url', label: 'Webhook', hint: 'A URL that is called when the job completes or fails.' },
];

function JobSettings({ current }: { current: Draft }) {
  const set = (name: string, text: string) => {
    const { [name]: _, ...others } = current.settings;
    draft.value = { ...current, settings: text === '' ? others : { ...others, [name]: text } };
  };
  return (
    <details>
      <summary>Job settings</summary>
      <div class="options">
        {settings.map(({ name, label, hint }) => (
          <Field key={name} id={`job-${name}`} label={label} hint={hint}>
            {(attributes) => (
              <input
                {...attributes}
                autocomplete="off"
                value={String(current.settings[name] ?? '')}
                onInput={({ currentTarget }) => set(name, currentTarget.value.trim())}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
}
