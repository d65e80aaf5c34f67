import type { Random } from '../faults/random.ts';
import { FunctionError } from './function-error.ts';
import type { LocalRuntime } from './runtime.ts';

const rate = 0.02;
const minMs = 50;
const maxMs = 1_500;

/**
 * Returns a runtime whose functions compete for the account's concurrency: occasionally one is throttled briefly.
 * Imitates: "TooManyRequestsException: The request throughput limit was exceeded", status 429 (Invoke in the Lambda API
 * reference; developer guide, "Understanding Lambda function scaling"). Queue pollers then keep their messages and
 * retry.
 */
export function throttledRuntime<R extends Pick<LocalRuntime, 'invoke' | 'invokeStream'>>(
  runtime: R,
  random: Random,
  now: () => number = Date.now,
): R {
  const throttledUntil = new Map<string, number>();
  const check = (arn: string) => {
    if (random.chance(rate)) throttledUntil.set(arn, now() + random.between(minMs, maxMs));
    if ((throttledUntil.get(arn) ?? 0) > now()) throw new FunctionError('TooManyRequestsException', 'Rate Exceeded.');
  };
  return {
    ...runtime,
    async invoke(fn, event, caller) {
      check(fn.arn);
      return runtime.invoke(fn, event, caller);
    },
    async invokeStream(fn, event, caller) {
      check(fn.arn);
      return runtime.invokeStream(fn, event, caller);
    },
  };
}
