import { S3Client } from '@aws-sdk/client-s3';
import { required } from '../settings.ts';
import { clientSettings } from './client-settings.ts';

let client: S3Client | undefined;

/** Returns the bucket and its client, which is created on first use. */
export function bucket(): { client: S3Client; name: string } {
  client ??= new S3Client(clientSettings('S3'));
  return { client, name: required('LATHE_BUCKET') };
}
