import { useSignal } from '@preact/signals';
import { timeText } from '../format.ts';
import { useAction, useLoaded } from '../parts/load.ts';
import { Empty, Problem } from '../parts/notice.tsx';
import { Secret, Status, View, Wide } from '../parts/view.tsx';
import { path } from '../router.ts';
import { request } from '../service/request.ts';
import type { DeliveryList, Webhook, WebhookList } from '../service/types.ts';
import { Confirmed } from './keys.tsx';

/** Shows the webhooks of the account, or the deliveries of the one that the path names. */
export function Webhooks() {
  const [, , id] = path.value.split('/');
  return id === undefined ? <List /> : <Deliveries key={id} id={id} />;
}

function List() {
  const loaded = useLoaded<WebhookList>('/v1/account/webhooks');
  const created = useSignal<Webhook | undefined>(undefined);
  const { problem, run } = useAction();
  const create = (form: HTMLFormElement) =>
    run(async () => {
      const url = String(new FormData(form).get('url')).trim();
      created.value = await request<Webhook>('POST', '/v1/account/webhooks', { url });
      form.reset();
      loaded.reload();
    });
  const remove = (id: string) =>
    run(async () => {
      await request('DELETE', `/v1/account/webhooks/${id}`);
      loaded.reload();
    });
  return (
    <View title="Webhooks" lead="Addresses of yours that are called when a job is created or has ended." from={loaded}>
      {({ docs }) => (
        <>
          <form
            class="card stack"
            onSubmit={(event) => {
              event.preventDefault();
              void create(event.currentTarget);
            }}
          >
            <h2>New webhook</h2>
            <div class="row">
              <div class="field grow">
                <label for="hook">URL</label>
                <input id="hook" name="url" type="url" required placeholder="https://example.com/lathe" />
              </div>
            </div>
            <div>
              <button type="submit" class="main">
                Register
              </button>
            </div>
          </form>
          {problem.value !== '' && <Problem text={problem.value} />}
          {created.value && <Secret value={created.value.secret} label="This is the secret of its signatures." />}
          {docs.length === 0 ? (
            <div class="card">
              <Empty title="No webhooks">
                <p>Register one to be told of jobs in place of asking for them.</p>
              </Empty>
            </div>
          ) : (
            <Wide label="Webhooks">
              <table>
                <thead>
                  <tr>
                    <th>URL</th>
                    <th>Events</th>
                    <th>Since</th>
                    <th>
                      <span class="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {docs.map((webhook) => (
                    <tr key={webhook.id}>
                      <td class="long">
                        <a href={`/webhooks/${webhook.id}`}>{webhook.url}</a>
                        {webhook.disabledAt !== null && <div class="quiet">off: its receiver responded with 410</div>}
                      </td>
                      <td>{webhook.events.join(', ')}</td>
                      <td>{timeText(webhook.createdAt)}</td>
                      <td class="actions">
                        <Confirmed
                          label={`Delete ${webhook.url}`}
                          text="Delete"
                          onConfirm={() => void remove(webhook.id)}
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )}
        </>
      )}
    </View>
  );
}

function Deliveries({ id }: { id: string }) {
  const loaded = useLoaded<DeliveryList>(`/v1/account/webhooks/${id}/deliveries`);
  const { problem, run } = useAction();
  const replay = (delivery: string) =>
    run(async () => {
      await request('POST', `/v1/account/webhooks/${id}/deliveries/${encodeURIComponent(delivery)}/replay`);
      loaded.reload();
    });
  return (
    <View title="Deliveries" from={loaded}>
      {({ docs }) => (
        <>
          <div class="row apart">
            <a href="/webhooks">← All webhooks</a>
            <button type="button" onClick={loaded.reload}>
              Refresh
            </button>
          </div>
          {problem.value !== '' && <Problem text={problem.value} />}
          {docs.length === 0 ? (
            <div class="card">
              <Empty title="No deliveries yet">
                <p>
                  The next job calls it. <a href="/">Convert a file</a> to see one.
                </p>
              </Empty>
            </div>
          ) : (
            <Wide label="Deliveries">
              <table>
                <thead>
                  <tr>
                    <th>Created</th>
                    <th>Event</th>
                    <th>Status</th>
                    <th>Attempts</th>
                    <th>
                      <span class="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {docs.map((delivery) => (
                    <tr key={delivery.id}>
                      <td>{timeText(delivery.createdAt)}</td>
                      <td>
                        <a href={`/jobs/${delivery.job}`}>{delivery.event}</a>
                      </td>
                      <td>
                        <Status of={delivery.status} />
                      </td>
                      <td>
                        {delivery.attempts.map(({ at, status, latencyMs, error }) => (
                          <div key={at} class="number">
                            {status ?? error ?? 'no response'} <span class="quiet">in {latencyMs} ms</span>
                          </div>
                        ))}
                      </td>
                      <td class="actions">
                        <button type="button" class="plain" onClick={() => void replay(delivery.id)}>
                          Replay
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )}
        </>
      )}
    </View>
  );
}
