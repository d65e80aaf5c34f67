import { timeText } from '../format.ts';
import { CardForm, Choice, Confirmed, TextInput } from '../parts/card-form.tsx';
import { useAction, useLoaded } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { Status, Table, View } from '../parts/view.tsx';
import { request } from '../service/request.ts';
import { chooseAccount, session } from '../service/session.ts';
import type { MemberList } from '../service/types.ts';

const roles = [
  ['owner', 'Owner: full access'],
  ['developer', 'Developer: convert files'],
  ['viewer', 'Viewer: read only'],
] as const;

/** Shows the members of the account, and creates teams. */
export function Members() {
  const loaded = useLoaded<MemberList>('/v1/account/members');
  const { problem, run } = useAction(loaded.reload);
  const me = session.value.state === 'in' ? session.value.me : undefined;
  const isTeam = me?.account.kind === 'team';
  const mayManage = isTeam && me.scopes.includes('account');
  const change = (id: string, method: 'POST' | 'DELETE', body?: object) =>
    run(() => request(method, `/v1/account/members/${id}`, body));
  const invite = async (data: FormData) => {
    await request('POST', '/v1/account/members', { email: data.get('email'), role: data.get('role') });
    loaded.reload();
  };
  const createTeam = async (data: FormData) => {
    const name = String(data.get('name')).trim();
    const { id } = await request<{ id: string }>('POST', '/v1/account/teams', { name });
    chooseAccount(id);
    location.reload();
  };
  return (
    <View
      title="Members"
      lead={
        isTeam
          ? `Members of the account ${me.account.name}.`
          : 'This is your personal account. Create a team to share an account with others.'
      }
      from={loaded}
    >
      {({ docs }) => (
        <>
          {mayManage && (
            <CardForm title="Invite a member" action="Invite" onSubmit={invite}>
              <div class="row">
                <TextInput id="email" name="email" type="email" label="Email address" />
                <Choice id="role" name="role" label="Role" values={roles} initial="developer" />
              </div>
            </CardForm>
          )}
          {problem.value !== '' && <Problem text={problem.value} />}
          <Table label="Members" columns={['Member', 'Role', 'Status', 'Since']} hasActions rows={docs}>
            {({ id, name, email, role, status, since }) => (
              <tr key={id}>
                <td>
                  {name ?? email}
                  {name !== undefined && <div class="quiet">{email}</div>}
                </td>
                <td>
                  {mayManage && status === 'active' ? (
                    <select
                      aria-label={`Role of ${email}`}
                      value={role}
                      onChange={({ currentTarget }) => void change(id, 'POST', { role: currentTarget.value })}
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
                  {mayManage && (
                    <Confirmed label={`Remove ${email}`} text="Remove" onConfirm={() => void change(id, 'DELETE')} />
                  )}
                </td>
              </tr>
            )}
          </Table>
          <CardForm title="New team" action="Create team" onSubmit={createTeam}>
            <TextInput id="team" name="name" label="Name" maxLength={100} />
          </CardForm>
        </>
      )}
    </View>
  );
}
