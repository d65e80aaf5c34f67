import { S3Client } from '@aws-sdk/client-s3';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { clientSettings } from '../../../shared/aws/client-settings.ts';
import { required } from '../../../shared/settings.ts';

/** What signs requests for clients: what it has signed is valid until its credentials expire, whatever it states itself. */
interface Signer {
  client: S3Client;
  /** Of the bucket. */
  name: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The maximum for a role that is assumed by another, as that of a function is. */
const sessionSeconds = 60 * 60;
/** By how much less a session may last, so that one serves many requests: an account may call STS 600 times a second. */
const sharedSeconds = 60;

let session: Promise<Signer> | undefined;

/**
 * Returns a signer for what is to be valid for so many seconds, or as near to that as the hour of a session allows. Lambda does
 * not say when the credentials of a function expire, which may be any moment after an invocation; those of a role that the
 * function assumes expire when STS says.
 */
export async function signerFor(seconds: number): Promise<Signer> {
  const current = session;
  const known = await current;
  const wantedMs = Math.min(seconds, sessionSeconds - sharedSeconds) * 1000;
  if (known && known.expiresAt - Date.now() >= wantedMs) return known;
  if (session !== current && session) return session;
  session = openSession();
  session.catch(() => {
    session = undefined;
  });
  return session;
}

async function openSession(): Promise<Signer> {
  const { Credentials: credentials } = await new STSClient(clientSettings('STS')).send(
    new AssumeRoleCommand({
      RoleArn: required('LATHE_SIGNING_ROLE'),
      RoleSessionName: 'signing',
      DurationSeconds: sessionSeconds,
    }),
  );
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
    throw new Error('Expected credentials with their expiration from STS.');
  const client = new S3Client({
    ...clientSettings('S3'),
    credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
  });
  return { client, name: required('LATHE_BUCKET'), expiresAt: Expiration.getTime() };
}
