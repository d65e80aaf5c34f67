import type { LocalFunction, QueueSource } from '../../packages/local-aws/src/template/model.ts';
import { numberSettings } from '../../shared/settings.ts';

const shareVariable = 'LATHE_ACCOUNT_SHARE';

/**
 * Returns how many messages an engine's worker has in flight. It waits for its engine, an image function with one
 * environment more than there are cores. More messages would wait while their visibility timeouts elapse. One account
 * may have all but the reserve.
 */
export function workerSlots({ function: fn, maximumConcurrency }: QueueSource, cores: number) {
  if (fn.environment.LATHE_ENGINE === undefined) return undefined;
  const share = Number(fn.environment[shareVariable] ?? Number.POSITIVE_INFINITY);
  const reserve = (maximumConcurrency ?? share) > share ? 1 : 0;
  const concurrency = Math.min(cores + reserve, maximumConcurrency ?? Number.POSITIVE_INFINITY);
  return { concurrency, perGroup: concurrency > cores && reserve > 0 ? concurrency - 1 : undefined };
}

/** Lets one account have as many long runs and parts of split ones as there are cores, which leaves one engine to others. */
export function localShare({ environment }: LocalFunction, cores: number): Record<string, string> {
  if (environment.LATHE_ENGINE === undefined) return {};
  return Object.fromEntries(
    [shareVariable, numberSettings.splitAtOnce.variable].flatMap((name) => {
      const share = environment[name];
      return share === undefined ? [] : [[name, String(Math.min(Number(share), cores))]];
    }),
  );
}
