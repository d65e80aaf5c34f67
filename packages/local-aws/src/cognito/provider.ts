import { generateKeyPair, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type Provider from 'oidc-provider';
import type { LocalUserPool } from '../template/model.ts';
import { continuePage, errorPage, signOutPage } from './pages.ts';

/** The one user of the embedded provider. */
export interface ProviderUser {
  subject: string;
  email: string;
  name: string;
}

/** Path of the provider on the port. */
export const providerPath = '/_oidc';

const hourSeconds = 3_600;

export interface SignInProvider {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * Creates the issuer that replaces a user pool locally: one user, who signs in with a click or by opening the page.
 * Loaded with the first request, because most runs have none.
 */
export function createSignInProvider(
  pool: LocalUserPool,
  user: ProviderUser,
  report: (line: string) => void,
): SignInProvider {
  const { host } = new URL(pool.issuer);
  let loaded: Promise<Provider> | undefined;
  return {
    async handle(request, response) {
      // Another site may point its name at this machine, and would then share the provider's origin.
      if (request.headers.host !== host) return respond(response, 421, errorPage(`This is not ${host}.`));
      loaded ??= load(pool, user);
      try {
        await forward(await loaded, user, request, response);
      } catch (error) {
        report(`sign-in: ${error instanceof Error ? error.stack : String(error)}`);
        if (!response.headersSent) respond(response, 500, errorPage('Something went wrong. Begin again.'));
      }
    },
  };
}

async function forward(
  provider: Provider,
  user: ProviderUser,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url = '' } = request;
  if (url.startsWith(`${providerPath}/interaction/`)) return interact(provider, user, request, response);
  // The provider derives its mount point from the difference.
  Object.assign(request, { originalUrl: url, url: url.slice(providerPath.length) });
  await provider.callback()(request, response);
}

/** Shows the user, and completes the sign-in on confirmation. */
async function interact(
  provider: Provider,
  user: ProviderUser,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await provider.interactionDetails(request, response);
  } catch {
    return respond(response, 400, errorPage('No sign-in is in progress in this browser. Begin again.'));
  }
  if (request.method === 'POST' || isOfOwnPage(request))
    return provider.interactionFinished(request, response, { login: { accountId: user.subject } });
  respond(response, 200, continuePage(user.email));
}

/**
 * Returns whether a script of the service's own page began the sign-in, which then completes without a click. Browsers
 * send this in a header that no page can set and that covers all redirects on the way.
 */
function isOfOwnPage({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-dest'] === 'empty';
}

async function load(pool: LocalUserPool, { subject, ...person }: ProviderUser): Promise<Provider> {
  const { default: Provider } = await import('oidc-provider');
  const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js');
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return new Provider(pool.issuer, {
    adapter: createMemoryAdapter(),
    clients: pool.clients.map(({ id, callbackUrls, logoutUrls, scopes }) => ({
      client_id: id,
      token_endpoint_auth_method: 'none',
      redirect_uris: callbackUrls,
      post_logout_redirect_uris: logoutUrls,
      response_types: ['code'],
      grant_types: ['authorization_code'],
      scope: scopes.join(' '),
    })),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // Like Cognito, which puts them into ID tokens.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => void Object.assign(context, { type: 'html', body: signOutPage(form) }),
      },
    },
    ttl: { AccessToken: 300, IdToken: 300, Interaction: 600, Session: 24 * hourSeconds, Grant: 24 * hourSeconds },
    findAccount: (_context, id) =>
      id === subject ? { accountId: id, claims: () => ({ sub: id, email_verified: true, ...person }) } : undefined,
    interactions: { url: (_context, { uid }) => `${providerPath}/interaction/${uid}` },
    // The service is the only client, so there is nothing to consent to.
    async loadExistingGrant({ oidc: { provider, client, session } }) {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    renderError: (context, out) =>
      void Object.assign(context, { type: 'html', body: errorPage(Object.values(out).join(': ')) }),
  });
}

function respond(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
  });
  response.end(page);
}
