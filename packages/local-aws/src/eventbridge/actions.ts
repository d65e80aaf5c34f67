import { Refusal, type RequiredAction } from '../iam/refusal.ts';
import type { LocalStack } from '../template/model.ts';

/** Returns the permissions of an EventBridge call: one for each bus that it puts events on. */
export function eventsActions(stack: LocalStack, operation: string, input: Record<string, unknown>): RequiredAction[] {
  if (operation !== 'PutEvents')
    throw new Refusal('unsupported', `The operation ${operation} of EventBridge is not supported here.`);
  const entries = Array.isArray(input.Entries) ? input.Entries : [];
  const names = new Set(entries.map((entry) => String(Object(entry).EventBusName ?? 'default')));
  return [...names].map((name) => ({
    action: 'events:PutEvents',
    resource: name.startsWith('arn:') ? name : `arn:aws:events:${stack.region}:${stack.account}:event-bus/${name}`,
  }));
}
