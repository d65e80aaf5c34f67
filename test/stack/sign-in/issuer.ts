import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export const clientId = 'lathe-of-tests';

/** The request to the issuer when a sign-in began. */
export interface Asked {
  state: string;
  nonce: string;
  challenge: string;
  redirectUri: string;
}

type Claims = Record<string, unknown>;

/** An OpenID Connect issuer whose responses a test controls: the ID token for each code, and its UserInfo. */
export class TestIssuer implements AsyncDisposable {
  readonly url: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly #close: () => Promise<void>;
  readonly #codes = new Map<string, { asked: Asked; idToken: string | undefined }>();
  userInfo: Claims = { sub: 'ada' };
  /** Mistakes in the token requests. */
  readonly problems: string[] = [];

  private constructor(url: string, keys: GenerateKeyPairResult, close: () => Promise<void>) {
    this.url = url;
    this.privateKey = keys.privateKey;
    this.publicKey = keys.publicKey;
    this.#close = close;
  }

  static async start(): Promise<TestIssuer> {
    const keys = await generateKeyPair('RS256', { extractable: true });
    const server = createServer(async (request, response) => {
      const [status, body] = await issuer.#respond(request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const issuer = new TestIssuer(`http://127.0.0.1:${port}`, keys, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return issuer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }

  /** Returns the claims of a valid ID token. */
  claims({ nonce }: Pick<Asked, 'nonce'>, more: Claims = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    const person = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' };
    return { iss: this.url, aud: clientId, iat: now, exp: now + 300, nonce, ...person, ...more };
  }

  /** Signs an ID token as the issuer does. */
  sign(claims: JWTPayload, key: CryptoKey = this.privateKey): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(key);
  }

  /** Issues a code for an ID token. Unlike a real one, it can be exchanged repeatedly. */
  codeFor(asked: Asked, idToken: string | undefined): string {
    const code = `code-${this.#codes.size}`;
    this.#codes.set(code, { asked, idToken });
    return code;
  }

  async #respond(request: IncomingMessage): Promise<[number, unknown]> {
    switch (request.url) {
      case '/.well-known/openid-configuration':
        return [
          200,
          {
            issuer: this.url,
            authorization_endpoint: `${this.url}/authorize`,
            token_endpoint: `${this.url}/token`,
            userinfo_endpoint: `${this.url}/userinfo`,
            jwks_uri: `${this.url}/jwks`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            // More than any real issuer offers, so that the service must be careful itself.
            id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
          },
        ];
      case '/jwks':
        return [200, { keys: [{ ...(await exportJWK(this.publicKey)), kid: 'first', use: 'sig', alg: 'RS256' }] }];
      case '/token':
        return this.#exchange(new URLSearchParams(await text(request)));
      case '/userinfo':
        return [200, this.userInfo];
      default:
        return [404, {}];
    }
  }

  #exchange(form: URLSearchParams): [number, unknown] {
    const found = this.#codes.get(form.get('code') ?? '');
    if (!found) return [400, { error: 'invalid_grant' }];
    const { asked, idToken } = found;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (challenge !== asked.challenge) this.problems.push('The verifier does not belong to the challenge.');
    if (form.get('redirect_uri') !== asked.redirectUri) this.problems.push('The redirect is another.');
    if (form.get('client_id') !== clientId) this.problems.push('The client is another.');
    return [200, { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: idToken }];
  }
}
