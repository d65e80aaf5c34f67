import { authorizationFor } from './account.ts';

/** Stores a parameter of Systems Manager. */
export async function putParameter(endpoint: string, name: string, value: string): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: authorizationFor('ssm'),
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AmazonSSM.PutParameter',
    },
    body: JSON.stringify({ Name: name, Value: value, Type: 'String' }),
  });
  if (!response.ok) throw new Error(`SSM responded with status ${response.status}: ${await response.text()}`);
}
