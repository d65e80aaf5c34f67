/** The default account of ministack. */
const account = '000000000000';
export const region = 'us-east-1';
/** Of the account's root user, whose signatures ministack does not verify. */
export const credentials = { accessKeyId: account, secretAccessKey: 'test' };
/** The bucket that `cdk bootstrap` creates. */
export const assetsBucket = `cdk-hnb659fds-assets-${account}-${region}`;

/** Returns the header that identifies caller and service to ministack. */
export function authorizationFor(service: string): string {
  const scope = `${account}/20260101/${region}/${service}/aws4_request`;
  return `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
}
