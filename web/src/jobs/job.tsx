import { useSignal } from '@preact/signals';
import { memo } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { editAsNew } from '../builder/state.ts';
import { durationText, sizeText, spanText, timeLeftText, timeText } from '../format.ts';
import { useAction } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { useSeconds } from '../parts/seconds.ts';
import { Figures, Status, Table } from '../parts/view.tsx';
import { go } from '../router.ts';
import { cancelJob } from '../service/cancel.ts';
import { followJob, isOver } from '../service/live.ts';
import { messageOf, request } from '../service/request.ts';
import type { Job, Task } from '../service/types.ts';
import { Graph, type GraphNode } from './graph.tsx';
import { PartCells } from './parts.tsx';
import { titleOf } from './summary.ts';

/** Shows a job, and updates it live. */
export function JobView({ id }: { id: string }) {
  const job = useSignal<Job | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    let unfollow = () => {};
    let isShown = true;
    let frame: number | undefined;
    let latest: Job | undefined;
    // A job with many tasks changes more often than the screen is drawn.
    const showLatest = () => {
      frame = undefined;
      job.value = latest;
    };
    request<Job>('GET', `/v1/process/jobs/${id}?include=tasks`).then(
      (found) => {
        if (!isShown) return;
        job.value = found;
        if (!isOver(found))
          unfollow = followJob(id, {
            onChange: (next) => {
              problem.value = '';
              latest = next;
              frame ??= requestAnimationFrame(showLatest);
            },
            onProblem: (error) => {
              problem.value = messageOf(error);
            },
          });
      },
      (error) => {
        problem.value = messageOf(error);
      },
    );
    return () => {
      isShown = false;
      unfollow();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [id]);
  return (
    <div class="stack">
      <div>
        <a href="/jobs">← All jobs</a>
        <h1>{job.value ? titleOf(job.value) : 'Job'}</h1>
        <code class="quiet">{id}</code>
      </div>
      {problem.value !== '' && <Problem text={problem.value} />}
      {job.value ? <Shown job={job.value} /> : problem.value === '' && <div class="skeleton" aria-busy="true" />}
    </div>
  );
}

function Shown({ job }: { job: Job }) {
  const { problem, run } = useAction();
  const tasks = job.tasks ?? [];
  const open = tasks.filter(({ endedAt }) => endedAt === null);
  const now = useSeconds(open.length > 0);
  const remove = async () => {
    await request('DELETE', `/v1/process/jobs/${job.id}`);
    go('/jobs');
  };
  return (
    <>
      <div class="card stack">
        <Figures
          class="figures"
          rows={[
            ['Status', <Status key="status" of={job.status} isLive />],
            ['Duration', spanText(job.createdAt, job.endedAt)],
            ['Conversion time', durationText(job.conversionSeconds ?? 0)],
            ['Tasks', tasks.length],
          ]}
        />
        {job.result.msg !== undefined && <div class="notice bad">{job.result.msg}</div>}
        {tasks.length > 0 && <Graph tasks={tasks.map(nodeOf)} />}
        {job.tasksTruncated && <p class="quiet">The job has more tasks than one response can hold.</p>}
        <div class="row">
          {open.length > 0 && (
            <button type="button" onClick={() => void run(() => cancelJob(job))}>
              Cancel
            </button>
          )}
          {!job.tasksTruncated && (
            <button
              type="button"
              onClick={() => {
                editAsNew(job);
                go('/builder');
              }}
            >
              Edit as new job
            </button>
          )}
          <button type="button" class="danger" onClick={() => void run(remove)}>
            Delete job and files
          </button>
        </div>
        {problem.value !== '' && <Problem text={problem.value} />}
      </div>
      <h2>Tasks</h2>
      <Table label="Tasks" columns={['Name', 'Operation', 'Status', 'Waited', 'Duration', 'Result']} rows={tasks}>
        {(task) => <Row key={task.id} task={task} now={task.endedAt === null ? now : 0} known={job.result.msg} />}
      </Table>
      <p class="small quiet">
        Created {timeText(job.createdAt)}. The job expires {timeText(job.expiresAt)}, its files before that.
      </p>
    </>
  );
}

function nodeOf(task: Task): GraphNode {
  const { id, dependsOn, name, operation, status } = task;
  return { id, dependsOn, title: name || operation, detail: detailOf(task), state: status };
}

function detailOf({ operation, status, startedAt, endedAt, progress }: Task): string {
  if (status === 'processing') return `${operation} · ${progress === undefined ? '…' : `${Math.round(progress)}%`}`;
  return endedAt === null || startedAt === null
    ? `${operation} · ${status}`
    : `${operation} · ${spanText(startedAt, endedAt)}`;
}

/** Rendered again when its task changes, and each second while the task runs. */
const Row = memo(({ task, known }: { task: Task; now: number; known: string | undefined }) => (
  <tr>
    <td>{task.name}</td>
    <td>{task.operation}</td>
    <td>
      <Status of={task.status} />
      {task.endedAt === null && <Progress task={task} />}
    </td>
    <td class="number">{spanText(task.createdAt, task.startedAt ?? task.endedAt)}</td>
    <td class="number">{spanText(task.startedAt, task.endedAt)}</td>
    <td>
      <Result task={task} known={known} />
    </td>
  </tr>
));

function Progress({ task: { startedAt, progress, result } }: { task: Task }) {
  if (startedAt === null || progress === undefined) return null;
  // Its parts show the time left of a split task.
  const share = result.parts ? undefined : progress / 100;
  const left = timeLeftText(share, (Date.now() - Date.parse(startedAt)) / 1000);
  return (
    <div class="small quiet number">
      {Math.round(progress)}%{left !== '' && ` · ${left}`}
    </div>
  );
}

/** Leaves out an error that the job shows already: that of the task which failed it, and of those that waited for it. */
function Result({ task: { result }, known = '' }: { task: Task; known: string | undefined }) {
  const isKnown =
    result.msg !== undefined && known !== '' && (known.includes(result.msg) || result.msg.includes(known));
  if (result.msg !== undefined && !isKnown) return <>{result.msg}</>;
  if (result.parts) return <PartCells parts={result.parts} />;
  const files = result.files ?? [];
  if (files.length === 0) return <>–</>;
  return (
    <>
      {files.map((file) => (
        <div key={file.url}>
          <a href={file.url} download={file.filename}>
            {file.filename}
          </a>{' '}
          <span class="quiet">{sizeText(file.size)}</span>
        </div>
      ))}
      {(result.warnings ?? []).map((warning) => (
        <div key={warning} class="quiet">
          {warning}
        </div>
      ))}
    </>
  );
}
