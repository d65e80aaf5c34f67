import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { clientSettings } from '../../../shared/aws/client-settings.ts';
import { contentDisposition } from '../../../shared/files/names.ts';
import { required } from '../../../shared/settings.ts';
import type { StoredFile } from '../../../shared/tasks/task.ts';

/** Signs requests for clients. They become invalid when its credentials expire, even if they state a later time. */
interface Signer {
  client: S3Client;
  /** Name of the bucket. */
  name: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The maximum for role chaining. */
const sessionSeconds = 60 * 60;
/** Tolerated reduction of the lifetime, so that requests can share a session. STS allows 600 calls per second. */
const sharedSeconds = 60;

/** Clients follow the redirect immediately. A leaked URL must not outlive its task for long. */
const presignedSeconds = 300;

let session: Promise<Signer> | undefined;

/**
 * Returns a signer for requests that are valid for this many seconds, up to the hour of a session. It assumes a role because
 * the credentials of a function may expire at any time after the invocation, and Lambda does not report when.
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
  // Loaded on demand: most instant conversions sign nothing, and must start fast.
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
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
  // Set by the local stack if clients reach the bucket by a proxy, and this function does not.
  const endpoint = process.env.LATHE_FILES_URL;
  const client = new S3Client({
    ...clientSettings('S3'),
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // The checksum of a part is not known when its URL is signed.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
  });
  return { client, name: required('LATHE_BUCKET'), expiresAt: Expiration.getTime() };
}

/** Returns a presigned URL of a file that responds with its name and media type. */
export async function presignDownload(
  file: Pick<StoredFile, 'key' | 'name' | 'mediaType'>,
  method: string,
): Promise<string> {
  const { client, name } = await signerFor(presignedSeconds);
  const input = {
    Bucket: name,
    Key: file.key,
    ResponseContentDisposition: contentDisposition(file.name),
    ResponseContentType: file.mediaType,
  };
  // The signature includes the method, so a URL for GET does not work for HEAD.
  const command = method === 'HEAD' ? new HeadObjectCommand(input) : new GetObjectCommand(input);
  return getSignedUrl(client, command, { expiresIn: presignedSeconds });
}
