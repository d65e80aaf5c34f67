import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  FeaturePlan,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  UserPool,
  type UserPoolClient,
  UserPoolClientIdentityProvider,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { readDeployment } from '../deployment.ts';
import { settings, signInSettings } from '../settings.ts';

interface SignInProps {
  /** Root URL of the service, as clients see it. */
  url: string;
  /** The id of the HTTP API. */
  apiId: string;
  /** The variables of all settings. */
  variables: Record<string, string>;
}

/**
 * The issuer for sign-in: the one in the context value `oidcIssuer` or, if that is empty, a user pool of the stack. The
 * service is a public client of either: it has no secret, and uses PKCE.
 */
export class SignIn extends Construct {
  /** Variables that name the issuer to the sign-in endpoints. */
  readonly variables: Record<string, string>;

  constructor(scope: Construct, id: string, { variables, ...service }: SignInProps) {
    super(scope, id);
    const own = Object.fromEntries(
      signInSettings.map((name) => [settings[name].variable, variables[settings[name].variable] ?? '']),
    );
    this.variables = isIssuerChosen(this) ? own : { ...own, ...this.#addPool(service) };
  }

  #addPool({ url, apiId }: Omit<SignInProps, 'variables'>): Record<string, string> {
    const { keepsData, signUp } = readDeployment(this);
    const pool = new UserPool(this, 'Pool', {
      featurePlan: FeaturePlan.ESSENTIALS,
      selfSignUpEnabled: signUp,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      // Addresses must be verified, including changed ones.
      keepOriginal: { email: true },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(7),
      },
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      deletionProtection: keepsData,
      removalPolicy: keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const client = pool.addClient('Client', {
      generateSecret: false,
      authFlows: { userSrp: true },
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: [`${url}/auth/callback`],
        logoutUrls: [`${url}/`],
      },
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      preventUserExistenceErrors: true,
      // The service reads the ID token once and has its own sessions: these are the shortest validities of Cognito.
      idTokenValidity: Duration.minutes(5),
      accessTokenValidity: Duration.minutes(5),
      refreshTokenValidity: Duration.hours(1),
    });
    // The API id is unique in the region, as the domain must be. It is no secret: it is part of the API's URL.
    this.#addLoginPages(pool, client, `lathe-${apiId}`);
    new CfnOutput(Stack.of(this), 'UserPoolId', {
      value: pool.userPoolId,
      description: 'User pool for sign-in',
    });
    return { LATHE_POOL_ISSUER: pool.userPoolProviderUrl, LATHE_POOL_CLIENT_ID: client.userPoolClientId };
  }

  #addLoginPages(pool: UserPool, client: UserPoolClient, domainPrefix: string): void {
    pool.addDomain('Domain', {
      cognitoDomain: { domainPrefix },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    // Cognito shows no page without a style, not even its default one.
    new CfnManagedLoginBranding(this, 'Style', {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
  }
}

function isIssuerChosen(scope: Construct): boolean {
  const [issuer, clientId] = ['oidcIssuer', 'oidcClientId'].map((name) =>
    String(scope.node.tryGetContext(name) ?? '').trim(),
  );
  if (!issuer !== !clientId) throw new Error('Expected both oidcIssuer and oidcClientId, or neither of them.');
  if (issuer && !/^https:\/\/[^/?#@\s]+[^?#\s]*$/.test(issuer))
    throw new Error(`Expected an https URL for oidcIssuer but received ${issuer}.`);
  return issuer !== '';
}
