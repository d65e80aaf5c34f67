import { useSignal } from '@preact/signals';
import { timeText } from '../format.ts';
import { useAction, useLoaded } from '../parts/load.ts';
import { Empty, Problem } from '../parts/notice.tsx';
import { Secret, View, Wide } from '../parts/view.tsx';
import { request } from '../service/request.ts';
import type { Key, KeyList, NewKey } from '../service/types.ts';

const scopes = [
  ['read', 'show jobs, tasks and webhooks'],
  ['process', 'create, cancel and delete work'],
  ['account', 'manage keys, webhooks and members'],
] as const;

/** Shows the API keys of the account. */
export function Keys() {
  const loaded = useLoaded<KeyList>('/v1/account/keys');
  const created = useSignal<NewKey | undefined>(undefined);
  const { problem, run } = useAction();
  const create = (form: HTMLFormElement) =>
    run(async () => {
      const data = new FormData(form);
      const days = Number(data.get('days'));
      created.value = await request<NewKey>('POST', '/v1/account/keys', {
        name: String(data.get('name')).trim(),
        scopes: data.getAll('scope'),
        ...(days > 0 ? { expires_in: days * 86_400 } : {}),
      });
      form.reset();
      loaded.reload();
    });
  const remove = ({ id }: Key) =>
    run(async () => {
      await request('DELETE', `/v1/account/keys/${id}`);
      if (created.value?.id === id) created.value = undefined;
      loaded.reload();
    });
  return (
    <View title="API keys" lead="Programs use them in place of signing in." from={loaded}>
      {({ docs }) => (
        <>
          <form
            class="card stack"
            onSubmit={(event) => {
              event.preventDefault();
              void create(event.currentTarget);
            }}
          >
            <h2>New key</h2>
            <div class="row">
              <div class="field grow">
                <label for="name">Name</label>
                <input id="name" name="name" required maxLength={100} autocomplete="off" placeholder="What it is for" />
              </div>
              <div class="field">
                <label for="days">Expires</label>
                <select id="days" name="days">
                  <option value="0">never</option>
                  <option value="30">in 30 days</option>
                  <option value="90">in 90 days</option>
                  <option value="365">in a year</option>
                </select>
              </div>
            </div>
            <fieldset>
              <legend>It may</legend>
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
            <div>
              <button type="submit" class="main">
                Create key
              </button>
            </div>
          </form>
          {problem.value !== '' && <Problem text={problem.value} />}
          {created.value && <Secret value={created.value.key} label={`The key ${created.value.name} is made.`} />}
          {docs.length === 0 ? (
            <div class="card">
              <Empty title="No keys">
                <p>A key lets a program convert in the name of this account.</p>
              </Empty>
            </div>
          ) : (
            <Wide label="API keys">
              <table>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Key</th>
                    <th>May</th>
                    <th>Last used</th>
                    <th>Expires</th>
                    <th>
                      <span class="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {docs.map((key) => (
                    <tr key={key.id}>
                      <td>{key.name}</td>
                      <td>
                        <code>{key.start}…</code>
                      </td>
                      <td>{key.scopes.join(', ')}</td>
                      <td>{key.lastUsedAt === null ? 'not yet' : timeText(key.lastUsedAt)}</td>
                      <td>{key.expiresAt === null ? 'never' : timeText(key.expiresAt)}</td>
                      <td class="actions">
                        <Confirmed label={`Delete ${key.name}`} text="Delete" onConfirm={() => void remove(key)} />
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

/** A button that asks once more, in its own place. */
export function Confirmed({ label, text, onConfirm }: { label: string; text: string; onConfirm(): void }) {
  const isAsking = useSignal(false);
  return (
    <button
      type="button"
      class="plain danger"
      aria-label={isAsking.value ? `${label}: confirm` : label}
      onClick={() => {
        if (isAsking.value) onConfirm();
        isAsking.value = !isAsking.value;
      }}
      onBlur={() => {
        isAsking.value = false;
      }}
    >
      {isAsking.value ? 'Sure?' : text}
    </button>
  );
}
