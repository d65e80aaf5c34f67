import { useSignal } from '@preact/signals';
import { timeText } from '../format.ts';
import { CardForm, Confirmed, TextInput } from '../parts/card-form.tsx';
import { useAction, useLoaded } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { Secret, Status, Table, View } from '../parts/view.tsx';
import { path } from '../router.ts';
import { request } from '../service/request.ts';
import type { DeliveryList, Webhook, WebhookList } from '../service/types.ts';

/** Shows the webhooks of the account, or the deliveries of the one in the path. */
export function Webhooks() {
  const [, , id] = path.value.split('/');
  return id === undefined ? <List /> : <Deliveries key={id} id={id} />;
}

function List() {
  const loaded = useLoaded<WebhookList>('/v1/account/webhooks');
  const created = useSignal<Webhook | undefined>(undefined);
  const { problem, run } = useAction(loaded.reload);
  const create = async (data: FormData) => {
    const url = String(data.get('url')).trim();
    created.value = await request<Webhook>('POST', '/v1/account/webhooks', { url });
    loaded.reload();
  };
  const remove = (id: string) => run(() => request('DELETE', `/v1/account/webhooks/${id}`));
  return (
    <View title="Webhooks" lead="URLs that are called when a job is created, completes or fails." from={loaded}>
      {({ docs }) => (
        <>
          <CardForm title="New webhook" action="Create webhook" onSubmit={create}>
            <TextInput id="hook" name="url" type="url" label="URL" placeholder="https://example.com/lathe" />
          </CardForm>
          {problem.value !== '' && <Problem text={problem.value} />}
          {created.value && <Secret value={created.value.secret} label="This is the signing secret." />}
          <Table
            label="Webhooks"
            columns={['URL', 'Events', 'Created']}
            hasActions
            rows={docs}
            empty={['No webhooks', 'Create a webhook to be notified about jobs instead of polling.']}
          >
            {({ id, url, events, createdAt, disabledAt }) => (
              <tr key={id}>
                <td class="long">
                  <a href={`/webhooks/${id}`}>{url}</a>
                  {disabledAt !== null && <div class="quiet">Disabled: the receiver responded with status 410</div>}
                </td>
                <td>{events.join(', ')}</td>
                <td>{timeText(createdAt)}</td>
                <td class="actions">
                  <Confirmed label={`Delete ${url}`} text="Delete" onConfirm={() => void remove(id)} />
                </td>
              </tr>
            )}
          </Table>
        </>
      )}
    </View>
  );
}

function Deliveries({ id }: { id: string }) {
  const loaded = useLoaded<DeliveryList>(`/v1/account/webhooks/${id}/deliveries`);
  const { problem, run } = useAction(loaded.reload);
  const replay = (delivery: string) =>
    run(() => request('POST', `/v1/account/webhooks/${id}/deliveries/${encodeURIComponent(delivery)}/replay`));
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
          <Table
            label="Deliveries"
            columns={['Created', 'Event', 'Status', 'Attempts']}
            hasActions
            rows={docs}
            empty={[
              'No deliveries yet',
              <>
                The next job calls this webhook. <a href="/">Convert a file</a> to try it.
              </>,
            ]}
          >
            {(delivery) => (
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
            )}
          </Table>
        </>
      )}
    </View>
  );
}
