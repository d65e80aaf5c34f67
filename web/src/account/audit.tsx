import { useSignal } from '@preact/signals';
import { timeText } from '../format.ts';
import { useLoaded } from '../parts/load.ts';
import { Table, View } from '../parts/view.tsx';
import type { AuditPage } from '../service/types.ts';

/** Shows the audit log of the account. */
export function Audit() {
  const before = useSignal('');
  const query = before.value === '' ? '' : `?${new URLSearchParams({ before: before.value })}`;
  const loaded = useLoaded<AuditPage>(`/v1/account/audit${query}`);
  const show = (text: string, position: string) => (
    <button
      type="button"
      onClick={() => {
        before.value = position;
      }}
    >
      {text}
    </button>
  );
  return (
    <View title="Audit log" lead="Changes to keys, webhooks, members and roles in the last 90 days." from={loaded}>
      {({ docs, next }) => (
        <>
          <Table
            label="Audit log"
            columns={['Time', 'Action', 'Subject', 'Actor', 'Address']}
            rows={docs}
            empty={['No changes yet', 'Changes to keys, webhooks and members appear here.']}
          >
            {({ id, at, action, subject, name, actor, address }) => (
              <tr key={id}>
                <td>{timeText(at)}</td>
                <td>{action}</td>
                <td>{name ?? <code>{subject}</code>}</td>
                <td>
                  {actor.type} {actor.id !== undefined && <code class="quiet">{actor.id}</code>}
                </td>
                <td>{address ?? '–'}</td>
              </tr>
            )}
          </Table>
          <div class="row">
            {before.value !== '' && show('Newest', '')}
            {next !== null && show('Older', next)}
          </div>
        </>
      )}
    </View>
  );
}
