import type { ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { Convert } from './convert/convert.tsx';
import { Logo } from './parts/logo.tsx';
import { Problem, SignInFirst } from './parts/notice.tsx';
import { path } from './router.ts';
import { chooseAccount, session, signIn, signOut, startSession } from './service/session.ts';
import type { Me } from './service/types.ts';

interface View {
  path: string;
  title: string;
  /** Purpose of signing in, if the view requires it. */
  signInTo?: string;
  show: ComponentType;
}

const convert: View = { path: '/', title: 'Convert', show: Convert };

const views: View[] = [
  convert,
  {
    path: '/builder',
    title: 'Builder',
    signInTo: 'to build jobs',
    show: lazy(async () => ({ default: (await import('./builder/builder.tsx')).Builder })),
  },
  {
    path: '/jobs',
    title: 'Jobs',
    signInTo: 'to see your jobs',
    show: lazy(async () => ({ default: (await import('./jobs/jobs.tsx')).Jobs })),
  },
  {
    path: '/usage',
    title: 'Usage',
    signInTo: 'to see your usage',
    show: lazy(async () => ({ default: (await import('./account/usage.tsx')).Usage })),
  },
  {
    path: '/keys',
    title: 'Keys',
    signInTo: 'to manage API keys',
    show: lazy(async () => ({ default: (await import('./account/keys.tsx')).Keys })),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    signInTo: 'to manage webhooks',
    show: lazy(async () => ({ default: (await import('./account/webhooks.tsx')).Webhooks })),
  },
  {
    path: '/members',
    title: 'Members',
    signInTo: 'to see the members of your account',
    show: lazy(async () => ({ default: (await import('./account/members.tsx')).Members })),
  },
  {
    path: '/audit',
    title: 'Audit',
    signInTo: 'to see the audit log',
    show: lazy(async () => ({ default: (await import('./account/audit.tsx')).Audit })),
  },
];

function viewOf(current: string): View {
  const first = `/${current.split('/')[1] ?? ''}`;
  return views.find((view) => view.path === first) ?? convert;
}

/** Shows the page: header, the view of the current path, and footer. */
export function App() {
  const view = viewOf(path.value);
  useEffect(() => {
    document.title = view === convert ? 'Lathe – convert files' : `${view.title} – Lathe`;
  }, [view]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="bar">
        <div class="bar-inner">
          <a class="brand" href="/">
            <Logo />
            Lathe
          </a>
          <nav aria-label="Main">
            <ul class="menu">
              {views.map(({ path: to, title }) => (
                <li key={to}>
                  <a href={to} {...(to === view.path ? { 'aria-current': 'page' as const } : {})}>
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Who />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <Shown view={view} />
      </main>
      <footer class="small quiet">
        <a href="/docs">API reference</a>
        <a href="/v1/openapi.json">OpenAPI document</a>
        <a href="/health">Health</a>
      </footer>
    </>
  );
}

function Shown({ view }: { view: View }) {
  const now = session.value;
  if (now.state === 'failed') return <Problem text={now.problem} retry={() => void startSession()} />;
  if (view.signInTo !== undefined && now.state !== 'in')
    return now.state === 'out' ? <SignInFirst to={view.signInTo} /> : <div class="skeleton" aria-busy="true" />;
  return (
    <Suspense fallback={<div class="skeleton" aria-busy="true" />}>
      <view.show />
    </Suspense>
  );
}

function Who() {
  const now = session.value;
  if (now.state === 'in') return <Account me={now.me} />;
  return (
    <div class="who">
      {now.state === 'out' && (
        <button type="button" class="main" onClick={signIn}>
          Sign in
        </button>
      )}
    </div>
  );
}

function Account({ me: { account, person } }: { me: Me }) {
  const accounts = person?.accounts ?? [];
  const choose = (id: string) => {
    chooseAccount(id);
    location.reload();
  };
  return (
    <div class="who small">
      {accounts.length > 1 ? (
        <select aria-label="Account" value={account.id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {accounts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <span class="quiet">{person?.name || person?.email || account.name}</span>
      )}
      <button type="button" class="plain" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  );
}
