import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { spanText, timeText, wholeText } from '../format.ts';
import { Choice } from '../parts/card-form.tsx';
import { useLoaded } from '../parts/load.ts';
import { Status, Table, View } from '../parts/view.tsx';
import { path } from '../router.ts';
import { session } from '../service/session.ts';
import type { Job, JobPage } from '../service/types.ts';
import { JobView } from './job.tsx';
import { formatsOf, percentOf, titleOf } from './summary.ts';

/** Shows the list of jobs, or the one in the path. */
export function Jobs() {
  const [, , id] = path.value.split('/');
  return id === undefined ? <JobList /> : <JobView key={id} id={id} />;
}

/** Delay between updates of a list with running jobs. */
const refreshMs = 10_000;

const statuses = [
  ['', 'All'],
  ['created', 'Created'],
  ['processing', 'Processing'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const;

const invitation = (
  <>
    <a href="/">Convert a file</a> or create a job with the <a href="/docs">API</a>.
  </>
);

function JobList() {
  const status = useSignal('');
  const tag = useSignal('');
  const page = useSignal(1);
  const query = new URLSearchParams({ per_page: '25', page: String(page.value) });
  if (status.value !== '') query.set('status', status.value);
  if (tag.value !== '') query.set('tag', tag.value);
  const loaded = useLoaded<JobPage>(`/v1/process/jobs?include=tasks&${query}`);
  const isRunning = loaded.data.value?.docs.some((job) => job.status === 'processing') === true;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(loaded.reload, refreshMs);
    return () => clearInterval(timer);
  }, [isRunning]);
  const { value: now } = session;
  const lifetime = now.state === 'in' ? ` They are deleted after ${wholeText(now.me.retention.recordSeconds)}.` : '';
  const isFiltered = status.value !== '' || tag.value !== '';
  const turn = (text: string, isPossible: boolean, by: number) => (
    <button
      type="button"
      disabled={!isPossible}
      onClick={() => {
        page.value += by;
      }}
    >
      {text}
    </button>
  );
  return (
    <View title="Jobs" lead={`Conversions of this account, from this page and from the API.${lifetime}`} from={loaded}>
      {({ docs, hasNextPage, hasPrevPage }) => (
        <>
          <div class="row">
            <Choice
              id="status"
              label="Status"
              values={statuses}
              value={status.value}
              onChange={({ currentTarget }) => {
                status.value = currentTarget.value;
                page.value = 1;
              }}
            />
            <div class="field">
              <label for="tag">Tag</label>
              <input
                id="tag"
                value={tag.value}
                onChange={({ currentTarget }) => {
                  tag.value = currentTarget.value.trim();
                  page.value = 1;
                }}
              />
            </div>
          </div>
          <Table
            label="Jobs"
            columns={['Files', 'Formats', 'Status', 'Created', 'Duration', 'Tag']}
            rows={docs}
            empty={isFiltered ? ['No matching jobs', 'No job has this status and tag.'] : ['No jobs yet', invitation]}
          >
            {(job) => (
              <tr key={job.id}>
                <td class="long">
                  <a href={`/jobs/${job.id}`}>{titleOf(job)}</a>
                </td>
                <td>{formatsOf(job) || '–'}</td>
                <td>
                  <JobStatus job={job} />
                </td>
                <td>{timeText(job.createdAt)}</td>
                <td class="number">{job.endedAt === null ? '–' : spanText(job.createdAt, job.endedAt)}</td>
                <td>{job.tag ?? '–'}</td>
              </tr>
            )}
          </Table>
          {(hasNextPage || hasPrevPage) && (
            <div class="row">
              {turn('Newer', hasPrevPage, -1)}
              {turn('Older', hasNextPage, 1)}
            </div>
          )}
        </>
      )}
    </View>
  );
}

function JobStatus({ job }: { job: Job }) {
  const percent = percentOf(job);
  return (
    <>
      <Status of={job.status} />
      {percent !== undefined && <div class="small quiet number">{percent}%</div>}
    </>
  );
}
