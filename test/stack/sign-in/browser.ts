import type { Asked, TestIssuer } from './issuer.ts';

/** Keeps cookies and follows no redirects, so that a test sees each step. */
export class TestBrowser {
  readonly #url: string;
  readonly cookies = new Map<string, string>();
  /** The Set-Cookie headers it received. */
  readonly received: string[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** Returns the id of its session. */
  get session(): string {
    return this.cookies.get('lathe_session') ?? '';
  }

  /** Sends a request with the cookies to a path or URL of the service. */
  async call(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Response> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      redirect: 'manual',
      headers: { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      this.received.push(cookie);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/; Max-Age=0(?:;|$)/.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Begins a sign-in and returns the request to the issuer. */
  async begin(returnTo?: string): Promise<Asked> {
    const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
    const response = await this.call('GET', `/auth/sign-in${query}`);
    if (response.status !== 302) throw new Error(`The sign-in began with ${response.status}: ${await response.text()}`);
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    const parameter = (name: string) => searchParams.get(name) ?? '';
    if (parameter('code_challenge_method') !== 'S256') throw new Error('The sign-in began without PKCE.');
    return {
      state: parameter('state'),
      nonce: parameter('nonce'),
      challenge: parameter('code_challenge'),
      redirectUri: parameter('redirect_uri'),
    };
  }

  /** Returns from the issuer with a code. */
  complete({ state }: Pick<Asked, 'state'>, code: string): Promise<Response> {
    return this.call('GET', `/auth/callback?${new URLSearchParams({ code, state })}`);
  }

  /** Signs in with an ID token that is valid except for these claims. */
  async signIn(issuer: TestIssuer, more: Record<string, unknown> = {}, returnTo?: string): Promise<Response> {
    const asked = await this.begin(returnTo);
    return this.complete(asked, issuer.codeFor(asked, await issuer.sign(issuer.claims(asked, more))));
  }
}
