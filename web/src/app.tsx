import { useSignal } from '@preact/signals';
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

/** Describes a view that is loaded on demand and requires signing in. */
function view(path: string, title: string, signInTo: string, load: () => Promise<ComponentType>): View {
  return { path, title, signInTo, show: lazy(async () => ({ default: await load() })) };
}

const views: View[] = [
  convert,
  view('/documents', 'PDFs', 'to arrange pages', async () => (await import('./documents/documents.tsx')).Documents),
  view('/builder', 'Builder', 'to build jobs', async () => (await import('./builder/builder.tsx')).Builder),
  view('/jobs', 'Jobs', 'to see your jobs', async () => (await import('./jobs/jobs.tsx')).Jobs),
  view('/usage', 'Usage', 'to see your usage', async () => (await import('./account/usage.tsx')).Usage),
  view('/keys', 'Keys', 'to manage API keys', async () => (await import('./account/keys.tsx')).Keys),
  view('/webhooks', 'Webhooks', 'to manage webhooks', async () => (await import('./account/webhooks.tsx')).Webhooks),
  view(
    '/members',
    'Members',
    'to see the members of your account',
    async () => (await import('./account/members.tsx')).Members,
  ),
  view('/audit', 'Audit', 'to see the audit log', async () => (await import('./account/audit.tsx')).Audit),
];

function viewOf(current: string): View {
  const first = `/${current.split('/')[1] ?? ''}`;
  return views.find((each) => each.path === first) ?? convert;
}

/** Shows the page: header, the view of the current path, and footer. */
export function App() {
  const shown = viewOf(path.value);
  // Narrow screens show the menu on request, until a view is chosen.
  const isMenuOpen = useSignal(false);
  useEffect(() => {
    isMenuOpen.value = false;
  }, [path.value]);
  useEffect(() => {
    document.title = shown === convert ? 'Lathe – convert files' : `${shown.title} – Lathe`;
  }, [shown]);
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
          <button
            type="button"
            class="menu-button"
            aria-expanded={isMenuOpen.value}
            aria-controls="menu"
            onClick={() => {
              isMenuOpen.value = !isMenuOpen.value;
            }}
          >
            Menu
          </button>
          <div id="menu" class={isMenuOpen.value ? 'menu-panel open' : 'menu-panel'}>
            <nav aria-label="Main">
              <ul class="menu bare">
                {views.map(({ path: to, title }) => (
                  <li key={to}>
                    <a href={to} {...(to === shown.path ? { 'aria-current': 'page' as const } : {})}>
                      {title}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
            <Who />
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <Shown view={shown} />
      </main>
      <footer class="small quiet">
        <a href="/docs">API reference</a>
        <a href="/v1/openapi.json">OpenAPI document</a>
        <a href="/health">Health</a>
      </footer>
    </>
  );
}

function Shown({ view: { signInTo, show: Content } }: { view: View }) {
  const now = session.value;
  if (now.state === 'failed') return <Problem text={now.problem} retry={() => void startSession()} />;
  if (signInTo !== undefined && now.state !== 'in')
    return now.state === 'out' ? <SignInFirst to={signInTo} /> : <div class="skeleton" aria-busy="true" />;
  return (
    <Suspense fallback={<div class="skeleton" aria-busy="true" />}>
      <Content />
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
