/** The part of oidc-provider that is used here; the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Context {
    body: string;
    type: string;
    oidc: {
      provider: Provider;
      client: { clientId: string };
      session: { accountId: string };
    };
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  interface Account {
    accountId: string;
    claims(): Record<string, unknown>;
  }

  interface Configuration {
    adapter: (model: string) => object;
    clients: Record<string, unknown>[];
    jwks: { keys: object[] };
    cookies: { keys: string[] };
    claims: Record<string, string[]>;
    conformIdTokenClaims: boolean;
    features: {
      devInteractions: { enabled: boolean };
      rpInitiatedLogout: { enabled: boolean; logoutSource(context: Context, form: string): void };
    };
    ttl: Record<string, number>;
    findAccount(context: Context, id: string): Account | undefined;
    interactions: { url(context: Context, interaction: { uid: string }): string };
    loadExistingGrant(context: Context): Promise<Grant>;
    renderError(context: Context, out: Record<string, string>): void;
  }

  export default class Provider {
    readonly Grant: new (of: {
      clientId: string;
      accountId: string;
    }) => Grant;
    constructor(issuer: string, configuration: Configuration);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    /** Throws if the browser has no sign-in in progress. */
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<{ uid: string }>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string } },
    ): Promise<void>;
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  export function createMemoryAdapter(): (model: string) => object;
}
