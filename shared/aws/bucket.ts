import { S3Client } from '@aws-sdk/client-s3';
import { required } from '../settings.ts';

const client = new S3Client({});

/** Returns the client and the bucket it works on. */
export function bucket(): { client: S3Client; name: string } {
  return { client, name: required('LATHE_BUCKET') };
}
