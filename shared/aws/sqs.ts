import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from './client-settings.ts';

let client: SQSClient | undefined;

/** Returns the SQS client, created on first use: many functions start for a request that needs none. */
export function sqs(): SQSClient {
  client ??= new SQSClient(clientSettings('SQS'));
  return client;
}
