import { timeText } from '../format.ts';
import { useAction, useLoaded } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { Status, View, Wide } from '../parts/view.tsx';
import { request } from '../service/request.ts';
import { chooseAccount, session } from '../service/session.ts';
import type { MemberList } from '../service/types.ts';
import { Confirmed } from './keys.tsx';

const roles = [
  ['owner', 'may do everything'],
  ['developer', 'converts'],
  ['viewer', 'only looks'],
] as const;

/** Shows who belongs to the account, and lets persons make teams. */
export function Members() {
  const loaded = useLoaded<MemberList>('/v1/account/members');
  const { problem, run } = useAction();
  const me = session.value.state === 'in' ? session.value.me : undefined;
  const mayManage = me?.scopes.includes('account') ?? false;
  const isTeam = me?.account.kind === 'team';
  const changed = (action: () => Promise<unknown>) =>
    run(async () => {
      await action();
      loaded.reload();
    });
  const invite = (form: HTMLFormElement) =>
    changed(async () => {
      const data = new FormData(form);
      await request('POST', '/v1/account/members', { email: data.get('email'), role: data.get('role') });
      form.reset();
    });
  const createTeam = (form: HTMLFormElement) =>
    run(async () => {
      const { id } = await request<{ id: string }>('POST', '/v1/account/teams', {
        name: String(new FormData(form).get('name')).trim(),
      });
      chooseAccount(id);
      location.reload();
    });
  return (
    <View
      title="Members"
      lead={
        isTeam ? `Who works with the account ${me?.account.name}.` : 'This account is yours alone. Teams have members.'
      }
      from={loaded}
    >
      {({ docs }) => (
        <>
          {isTeam && mayManage && (
            <form
              class="card stack"
              onSubmit={(event) => {
                event.preventDefault();
                void invite(event.currentTarget);
              }}
            >
              <h2>Invite</h2>
              <div class="row">
                <div class="field grow">
                  <label for="email">E-mail address</label>
                  <input id="email" name="email" type="email" required autocomplete="off" />
                </div>
                <div class="field">
                  <label for="role">Role</label>
                  <select id="role" name="role">
                    {roles.map(([role, text]) => (
                      <option key={role} value={role} selected={role === 'developer'}>
                        {role}: {text}
                      </option>
                    ))}
                  </select>
                </div>
              </div>
              <div>
                <button type="submit" class="main">
                  Invite
                </button>
              </div>
            </form>
          )}
          {problem.value !== '' && <Problem text={problem.value} />}
          <Wide label="Members">
            <table>
              <thead>
                <tr>
                  <th>Member</th>
                  <th>Role</th>
                  <th>Status</th>
                  <th>Since</th>
                  <th>
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {docs.map(({ id, name, email, role, status, since }) => (
                  <tr key={id}>
                    <td>
                      {name ?? email}
                      {name !== undefined && <div class="quiet">{email}</div>}
                    </td>
                    <td>
                      {isTeam && mayManage && status === 'active' ? (
                        <select
                          aria-label={`Role of ${email}`}
                          value={role}
                          onChange={({ currentTarget }) =>
                            void changed(() =>
                              request('POST', `/v1/account/members/${id}`, { role: currentTarget.value }),
                            )
                          }
                        >
                          {roles.map(([each]) => (
                            <option key={each}>{each}</option>
                          ))}
                        </select>
                      ) : (
                        role
                      )}
                    </td>
                    <td>
                      <Status of={status} />
                    </td>
                    <td>{timeText(since)}</td>
                    <td class="actions">
                      {isTeam && mayManage && (
                        <Confirmed
                          label={`Remove ${email}`}
                          text="Remove"
                          onConfirm={() => void changed(() => request('DELETE', `/v1/account/members/${id}`))}
                        />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
          <form
            class="card stack"
            onSubmit={(event) => {
              event.preventDefault();
              void createTeam(event.currentTarget);
            }}
          >
            <h2>New team</h2>
            <div class="row">
              <div class="field grow">
                <label for="team">Name</label>
                <input id="team" name="name" required maxLength={100} autocomplete="off" />
              </div>
            </div>
            <div>
              <button type="submit">Create team</button>
            </div>
          </form>
        </>
      )}
    </View>
  );
}
