import { createHash, randomBytes } from 'node:crypto';
import type { LocalFunction } from '../template/model.ts';
import { FunctionError } from './function-error.ts';

/** How often a function may be invoked in one chain before Lambda stops it. */
const maxInChain = 16;

/**
 * Returns the trace header of an invocation: that of its cause, with the function's count incremented. In a batch, the
 * highest count per function is used.
 * Imitates: "Lambda uses an AWS X-Ray trace header primitive called Lineage to track the number of times a function has
 * been invoked with an event"; after 16 of them the caller gets a RecursiveInvocationException, unless the function
 * allows recursive loops (AWS compute blog, "Detecting and stopping recursive loops in AWS Lambda functions"). The SDK
 * forwards the header to SQS and Lambda.
 */
export function traceOf({ arn, allowsLoops = false }: LocalFunction, causes: (string | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const [name, count] of causes.flatMap(lineageOf)) counts.set(name, Math.max(counts.get(name) ?? 0, count));
  const name = createHash('sha256').update(arn).digest('hex').slice(0, 8);
  const count = (counts.get(name) ?? 0) + 1;
  if (count > maxInChain && !allowsLoops)
    throw new FunctionError(
      'RecursiveInvocationException',
      "Lambda has detected your function being invoked in a recursive loop with other Amazon Web Services resources and stopped your function's invocation.",
    );
  counts.set(name, count);
  const root = causes.map((cause) => /Root=([^;]+)/.exec(cause ?? '')?.[1]).find((found) => found !== undefined);
  const lineage = [...counts].map(([each, times]) => `${each}:${times}`).join('|');
  return `Root=${root ?? newRoot()};Parent=${randomBytes(8).toString('hex')};Sampled=0;Lineage=${lineage}`;
}

function lineageOf(trace = ''): (readonly [string, number])[] {
  const [, lineage = ''] = /Lineage=([^;]+)/.exec(trace) ?? [];
  return [...lineage.matchAll(/([0-9a-f]+):(\d+)/g)].map(([, name = '', count]) => [name, Number(count)] as const);
}

function newRoot(): string {
  return `1-${Math.floor(Date.now() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`;
}
