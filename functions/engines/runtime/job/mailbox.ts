import type { EngineRequest } from '../protocol.ts';

/** The variable of a job that holds the URL of its mailbox. */
export const mailboxVariable = 'LATHE_MAILBOX';

/**
 * The object that a worker writes for a job, and writes again before the signed URLs in it expire. The job posts its response
 * by the form of its outputs.
 */
export interface Mailbox {
  request: EngineRequest;
  /** The signed URL of the next version. */
  url: string;
}

/** The name of the response of a job among its outputs, which have numbers. */
export const responseName = 'response';
