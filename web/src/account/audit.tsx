import { useSignal } from '@preact/signals';
import { timeText } from '../format.ts';
import { useLoaded } from '../parts/load.ts';
import { Empty } from '../parts/notice.tsx';
import { View, Wide } from '../parts/view.tsx';
import type { AuditPage } from '../service/types.ts';

/** Shows who changed what of the account. */
export function Audit() {
  const before = useSignal('');
  const query = before.value === '' ? '' : `?${new URLSearchParams({ before: before.value })}`;
  const loaded = useLoaded<AuditPage>(`/v1/account/audit${query}`);
  return (
    <View title="Audit log" lead="Who changed keys, webhooks, members and roles in the last 90 days." from={loaded}>
      {({ docs, next }) =>
        docs.length === 0 ? (
          <div class="card">
            <Empty title="Nothing has changed">
              <p>Changes of keys, webhooks and members appear here.</p>
            </Empty>
          </div>
        ) : (
          <>
            <Wide label="Audit log">
              <table>
                <thead>
                  <tr>
                    <th>When</th>
                    <th>What</th>
                    <th>Subject</th>
                    <th>By</th>
                    <th>From</th>
                  </tr>
                </thead>
                <tbody>
                  {docs.map(({ id, at, action, subject, name, actor, address }) => (
                    <tr key={id}>
                      <td>{timeText(at)}</td>
                      <td>{action}</td>
                      <td>{name ?? <code>{subject}</code>}</td>
                      <td>
                        {actor.type} {actor.id !== undefined && <code class="quiet">{actor.id}</code>}
                      </td>
                      <td>{address ?? '–'}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
            <div class="row">
              {before.value !== '' && (
                <button
                  type="button"
                  onClick={() => {
                    before.value = '';
                  }}
                >
                  Newest
                </button>
              )}
              {next !== null && (
                <button
                  type="button"
                  onClick={() => {
                    before.value = next;
                  }}
                >
                  Older
                </button>
              )}
            </div>
          </>
        )
      }
    </View>
  );
}
