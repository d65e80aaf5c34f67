import { CapacityMeter } from '../../packages/local-aws/src/dynamodb/capacity/meter.ts';
import { sendLimited } from '../support/limited-requests.ts';

const requests = 10_000;
const environments = 10;
const limit = 100;

/**
 * Reports how many of many requests pass a limit in each minute, over how many instances, and what counting them costs.
 */
export async function benchRate(report: (text: string) => void): Promise<boolean> {
  const measured = await sendLimited({ requests, environments, limit }, new CapacityMeter());
  const { passed, refused, others, writeUnits, milliseconds } = measured;
  report(`${passed.join(' and then ')} passed in a minute and ${refused} were refused, of ${requests}`);
  report(`${measured.environments} environments, ${(milliseconds / 1_000).toFixed(0)} s, ${writeUnits} write units`);
  if (others.length > 0) report(`${others.length} other responses, such as ${others[0]}`);
  return passed[0] === limit && Math.max(...passed) === limit && others.length === 0 && measured.environments >= 10;
}
