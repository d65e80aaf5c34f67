import type { Faults } from '../faults/faults.ts';
import type { Random } from '../faults/random.ts';
import type { LocalFunction, LocalStack } from '../template/model.ts';

const recycleRate = 0.03;
const disconnectRate = 0.2;
const killRate = 0.01;
const maxKillMs = 1_500;
/** Maximum validity of Lambda's credentials. */
const usualCredentialSeconds = 12 * 60 * 60;

/** Faults of execution environments. */
export interface EnvironmentFaults {
  /** Returns when the credentials of a new environment expire. */
  credentialsExpireAt(fn: LocalFunction): number;
  /** Returns whether an environment ends after its invocation. */
  isRecycled(): boolean;
  /** Returns whether the connections of a frozen environment are closed. */
  isDisconnected(): boolean;
  /** Returns after how many milliseconds an environment is killed during its invocation, if at all. */
  killAfterMs(fn: LocalFunction): number | undefined;
}

/**
 * Decides the faults of execution environments.
 * Imitates: "Lambda terminates execution environments every few hours to allow for runtime updates and maintenance,
 * even for functions that are invoked continuously. You should not assume that the execution environment will persist
 * indefinitely" (Lambda developer guide, "Understanding the Lambda execution environment lifecycle"). An environment
 * keeps the credentials in its variables, and is replaced before an invocation could outlive them; "If you created a
 * presigned URL using a temporary credential, the URL expires when the credential expires" (S3 user guide, "Download
 * and upload objects with presigned URLs"). Idle connections of a frozen environment are closed by the other side:
 * "Lambda purges idle connections over time. Attempting to reuse an idle connection when invoking a function will
 * result in a connection error" (Lambda developer guide, "Best practices").
 */
export function environmentFaults(
  stack: Pick<LocalStack, 'httpApis' | 'webSocketApis'>,
  faults: Faults,
  now: () => number = Date.now,
): EnvironmentFaults {
  const credentials = faults.random('credentials');
  const recycling = faults.random('recycling');
  const kills = faults.random('kills');
  // A waiting client would get an error, and may not retry.
  const ofClients = new Set(
    [...stack.httpApis, ...stack.webSocketApis].flatMap(({ routes }) => routes.map(({ function: fn }) => fn.arn)),
  );
  return {
    credentialsExpireAt: ({ timeoutSeconds }) =>
      now() + 1000 * (credentials ? credentialSeconds(credentials, timeoutSeconds) : usualCredentialSeconds),
    isRecycled: () => recycling?.chance(recycleRate) ?? false,
    isDisconnected: () => recycling?.chance(disconnectRate) ?? false,
    killAfterMs: ({ arn }) =>
      !ofClients.has(arn) && kills?.chance(killRate) ? kills.between(0, maxKillMs) : undefined,
  };
}

/** Returns the validity of credentials: the function's timeout, and some time before it. */
function credentialSeconds(random: Random, timeoutSeconds: number): number {
  return timeoutSeconds + random.between(20, 90);
}
