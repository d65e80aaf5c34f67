import { authorizationFor } from './account.ts';

/** Calls an operation of a JSON service, such as `AmazonSSM.PutParameter`. */
export async function callJson(endpoint: string, service: string, target: string, body: object): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: authorizationFor(service),
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': target,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${target} responded with status ${response.status}: ${await response.text()}`);
}
