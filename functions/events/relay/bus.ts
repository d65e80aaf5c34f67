import type { Logger } from '@aws-lambda-powertools/logger';
import { putEvents } from '../../../shared/aws/bus.ts';
import { busEventsOf, parseBusScope } from '../../../shared/aws/bus-events.ts';
import { sendBusEvents } from '../../../shared/aws/queues.ts';
import type { ChangeEvent } from '../../../shared/events/change-event.ts';

/** How long an unresponsive bus may delay the next messages of a job. */
const timeoutMs = 1_000;
const retryAfterSeconds = 10;

const scope = parseBusScope(process.env.LATHE_BUS_EVENTS);

/**
 * Puts changes on the event bus, where rules match them by name. Events that the bus rejects are sent to the queue of
 * deliveries. Retrying the original message instead would delay all later events of the job. Throws only if that queue
 * fails too.
 */
export async function putOnBus(changes: ChangeEvent[], logger: Logger): Promise<void> {
  const events = changes.flatMap((change) => busEventsOf(change, scope));
  if (events.length === 0) return;
  const refused = await putEvents(events, timeoutMs);
  if (refused.length === 0) return;
  logger.warn('the bus refused events, which are put there later', {
    events: refused.map(({ event: { name } }) => name),
    error: refused[0]?.cause,
  });
  await sendBusEvents(
    refused.map(({ event }) => event),
    retryAfterSeconds,
  );
}
