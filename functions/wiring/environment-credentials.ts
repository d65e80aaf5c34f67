/**
 * Returns the provider of a function's credentials, which Lambda gives its process in the environment and nowhere else. In
 * bundles it replaces the SDK's default, whose clients of SSO, STS and others look where a function has nothing.
 */
export function defaultProvider() {
  // Read at each call, and kept by the SDK until they expire, as with its own.
  return async () => credentialsOf(process.env);
}

function credentialsOf(environment: NodeJS.ProcessEnv) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_CREDENTIAL_EXPIRATION: expiration,
  } = environment;
  if (!accessKeyId || !secretAccessKey) {
    throw new Error('Expected values for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY but received none.');
  }
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken ? { sessionToken } : {}),
    ...(expiration ? { expiration: new Date(expiration) } : {}),
  };
}
