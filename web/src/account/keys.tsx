import { useSignal } from '@preact/signals';
import { timeText } from '../format.ts';
import { CardForm, Choice, Confirmed, TextInput } from '../parts/card-form.tsx';
import { useAction, useLoaded } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { Secret, Table, View } from '../parts/view.tsx';
import { request } from '../service/request.ts';
import type { Key, KeyList, NewKey } from '../service/types.ts';

const scopes = [
  ['read', 'Read jobs, tasks and webhooks'],
  ['process', 'Create, cancel and delete jobs and tasks'],
  ['account', 'Manage keys, webhooks and members'],
] as const;

const lifetimes = [
  ['0', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

/** Shows the API keys of the account. */
export function Keys() {
  const loaded = useLoaded<KeyList>('/v1/account/keys');
  const created = useSignal<NewKey | undefined>(undefined);
  const { problem, run } = useAction(loaded.reload);
  const create = async (data: FormData) => {
    const days = Number(data.get('days'));
    created.value = await request<NewKey>('POST', '/v1/account/keys', {
      name: String(data.get('name')).trim(),
      scopes: data.getAll('scope'),
      ...(days > 0 ? { expires_in: days * 86_400 } : {}),
    });
    loaded.reload();
  };
  const remove = ({ id }: Key) =>
    run(async () => {
      await request('DELETE', `/v1/account/keys/${id}`);
      if (created.value?.id === id) created.value = undefined;
    });
  return (
    <View title="API keys" lead="Your programs authenticate with API keys." from={loaded}>
      {({ docs }) => (
        <>
          <CardForm title="New key" action="Create key" onSubmit={create}>
            <div class="row">
              <TextInput id="name" name="name" label="Name" maxLength={100} placeholder="Nightly import" />
              <Choice id="days" name="days" label="Expires" values={lifetimes} />
            </div>
            <fieldset>
              <legend>Scopes</legend>
              <div class="stack">
                {scopes.map(([scope, text]) => (
                  <label class="check" key={scope}>
                    <input type="checkbox" name="scope" value={scope} defaultChecked={scope !== 'account'} />
                    <span>
                      {text} <code class="quiet">{scope}</code>
                    </span>
                  </label>
                ))}
              </div>
            </fieldset>
          </CardForm>
          {problem.value !== '' && <Problem text={problem.value} />}
          {created.value && <Secret value={created.value.key} label={`Created the key ${created.value.name}.`} />}
          <Table
            label="API keys"
            columns={['Name', 'Key', 'Scopes', 'Last used', 'Expires']}
            hasActions
            rows={docs}
            empty={['No keys', 'Create a key so that your programs can convert files with this account.']}
          >
            {(key) => (
              <tr key={key.id}>
                <td>{key.name}</td>
                <td>
                  <code>{key.start}…</code>
                </td>
                <td>{key.scopes.join(', ')}</td>
                <td>{key.lastUsedAt === null ? 'Never' : timeText(key.lastUsedAt)}</td>
                <td>{key.expiresAt === null ? 'Never' : timeText(key.expiresAt)}</td>
                <td class="actions">
                  <Confirmed label={`Delete ${key.name}`} text="Delete" onConfirm={() => void remove(key)} />
                </td>
              </tr>
            )}
          </Table>
        </>
      )}
    </View>
  );
}
