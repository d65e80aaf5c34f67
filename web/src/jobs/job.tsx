import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { durationText, sizeText, spanText, timeText } from '../format.ts';
import { useAction } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { Status, Wide } from '../parts/view.tsx';
import { go } from '../router.ts';
import { cancelJob } from '../service/cancel.ts';
import { followJob } from '../service/live.ts';
import { messageOf, request } from '../service/request.ts';
import type { Job, Task } from '../service/types.ts';
import { Graph } from './graph.tsx';

/** Shows a job as it is now, and as it changes. */
export function JobView({ id }: { id: string }) {
  const job = useSignal<Job | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    let unfollow = () => {};
    let isShown = true;
    request<Job>('GET', `/v1/process/jobs/${id}?include=tasks`).then(
      (found) => {
        if (!isShown) return;
        job.value = found;
        if (found.endedAt === null)
          unfollow = followJob(id, {
            onChange: (next) => {
              problem.value = '';
              job.value = next;
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
    };
  }, [id]);
  return (
    <div class="stack">
      <div>
        <a href="/jobs">← All jobs</a>
        <h1>Job</h1>
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
  const remove = async () => {
    await request('DELETE', `/v1/process/jobs/${job.id}`);
    go('/jobs');
  };
  return (
    <>
      <div class="card stack">
        <dl class="figures">
          <div>
            <dt>Status</dt>
            <dd aria-live="polite">
              <Status of={job.status} />
            </dd>
          </div>
          <div>
            <dt>Took</dt>
            <dd class="number">{spanText(job.createdAt, job.endedAt)}</dd>
          </div>
          <div>
            <dt>Conversion time</dt>
            <dd class="number">{durationText(job.conversionSeconds ?? 0)}</dd>
          </div>
          <div>
            <dt>Tasks</dt>
            <dd class="number">{tasks.length}</dd>
          </div>
        </dl>
        {job.result.msg !== undefined && <div class="notice bad">{job.result.msg}</div>}
        {tasks.length > 0 && <Graph tasks={tasks} />}
        {job.tasksTruncated && <p class="quiet">The job has more tasks than one response can hold.</p>}
        <div class="row">
          {open.length > 0 && (
            <button type="button" onClick={() => void run(() => cancelJob(job))}>
              Cancel
            </button>
          )}
          <button type="button" class="danger" onClick={() => void run(remove)}>
            Delete the job and its files
          </button>
        </div>
        {problem.value !== '' && <Problem text={problem.value} />}
      </div>
      <h2>Tasks</h2>
      <Wide label="Tasks">
        <table>
          <thead>
            <tr>
              <th>Name</th>
              <th>Operation</th>
              <th>Status</th>
              <th>Waited</th>
              <th>Took</th>
              <th>Result</th>
            </tr>
          </thead>
          <tbody>
            {tasks.map((task) => (
              <tr key={task.id}>
                <td>{task.name}</td>
                <td>{task.operation}</td>
                <td>
                  <Status of={task.status} />
                </td>
                <td class="number">{spanText(task.createdAt, task.startedAt ?? task.endedAt)}</td>
                <td class="number">{spanText(task.startedAt, task.endedAt)}</td>
                <td>
                  <Result task={task} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <p class="small quiet">
        Created {timeText(job.createdAt)}. Its record is deleted {timeText(job.expiresAt)}, its files earlier.
      </p>
    </>
  );
}

function Result({ task: { result } }: { task: Task }) {
  if (result.msg !== undefined) return <>{result.msg}</>;
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
