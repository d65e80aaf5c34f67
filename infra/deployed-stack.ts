/**
 * Returns a pattern for the names of a stack's own resources. CloudFormation composes them of the stack, the logical id
 * and a random part; those of other stages and nested stacks have one more hyphen.
 */
export function namesOfStack(stack: string): { prefix: string; pattern: RegExp } {
  return { prefix: `${stack}-`, pattern: new RegExp(`^${stack}-[A-Za-z0-9]+-[A-Za-z0-9]+(\\.fifo)?$`) };
}

const advice: [error: RegExp, what: string][] = [
  [
    /^CredentialsProviderError|^UnrecognizedClient|^InvalidClientTokenId|^ExpiredToken|^InvalidSignature/,
    'AWS rejected your credentials, or there are none. Set AWS_PROFILE or log in again; `aws sts get-caller-identity` must succeed.',
  ],
  [/^AccessDenied/, 'Your credentials do not allow this. Use a role that may administer the stack.'],
  [/Region is missing/, 'Set AWS_REGION to the region of the stack.'],
];

/** Returns advice on an AWS error, followed by the error itself. */
export function explainAwsError(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const text = `${name}: ${message}`;
  const [, what] = advice.find(([pattern]) => pattern.test(text)) ?? [];
  return what === undefined ? text : `${what}\n${text}`;
}
