/** The messages between the host and the environment that runs the handler. */

export interface FunctionDescription {
  name: string;
  arn: string;
  entry: string;
  handler: string;
  memoryMegabytes: number;
  logGroupName: string;
  logStreamName: string;
  /** Where compiled modules are kept, which halves the time to load one. */
  compileCache: string;
}

export interface Invocation {
  requestId: string;
  /** JSON text, so that it is encoded once and measured where it is encoded. */
  event: string;
  /** Milliseconds since the epoch. */
  deadline: number;
}

export type Report =
  | { type: 'ready' }
  | { type: 'result'; requestId: string; payload: string }
  | { type: 'error'; requestId: string; errorType: string; message: string }
  /** The environment is lost, with every invocation in it. */
  | { type: 'fatal'; errorType: string; message: string };

const reportTypes = new Set<unknown>(['ready', 'result', 'error', 'fatal']);

/** Returns whether a message from an environment is one of its reports: a handler may send messages of its own. */
export function isReport(message: unknown): message is Report {
  return typeof message === 'object' && message !== null && 'type' in message && reportTypes.has(message.type);
}
