/**
 * Returns a provider for a function's credentials, which Lambda passes in the environment only. In bundles it replaces
 * the SDK's default provider and its clients of SSO, STS and others.
 */
export function defaultProvider() {
  // Read at each call. The SDK caches them until they expire.
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_CREDENTIAL_EXPIRATION: expiration,
    } = process.env;
    if (!accessKeyId || !secretAccessKey)
      throw new Error('Expected values for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY but received none.');
    return {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken ? { sessionToken } : {}),
      ...(expiration ? { expiration: new Date(expiration) } : {}),
    };
  };
}
