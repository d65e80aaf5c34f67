import { maxFilesPerTask } from '../../../../shared/tasks/limits.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import type { EngineResponse, Isolation, RemoteOutput } from '../protocol.ts';

/** Every operator sees it at /health, so an engine that was broken into must not fill it. */
const maxIsolationLength = 10_000;

/** Parses a line of an engine's response, and throws on anything that an engine in order would not send. */
export function parseResponse(line: string): EngineResponse {
  const response: unknown = JSON.parse(line);
  if (!isObject(response)) throw unexpected(line);
  const { type, barriers, percent, outputs, details, msg, detail, message, engineMs } = response;
  if (type === 'isolation' && isIsolation(barriers)) return { type, barriers };
  if (type === 'progress' && typeof percent === 'number') return { type, percent };
  if (type === 'broken' && typeof message === 'string') return { type, message };
  if (typeof engineMs !== 'number' || engineMs < 0) throw unexpected(line);
  if (type === 'refused' && typeof msg === 'string' && typeof detail === 'string')
    return { type, msg, detail, engineMs };
  if (type !== 'done' || !isOutputs(outputs)) throw unexpected(line);
  return { type, outputs, ...(isObject(details) ? { details } : {}), engineMs };
}

function isIsolation(value: unknown): value is Isolation {
  return isObject(value) && Object.values(value).every(isBarrier) && JSON.stringify(value).length <= maxIsolationLength;
}

function isBarrier(value: unknown): boolean {
  return isObject(value) && (value.stands === true || (value.stands === false && typeof value.reason === 'string'));
}

function isOutputs(value: unknown): value is RemoteOutput[] {
  return Array.isArray(value) && value.length <= maxFilesPerTask && value.every(isOutput);
}

function isOutput(value: unknown): value is RemoteOutput {
  return isObject(value) && typeof value.name === 'string' && typeof value.format === 'string';
}

// What JSON.parse returns for an object holds nothing but JSON.
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unexpected(line: string): Error {
  return new Error(`Expected a response of an engine but received ${line.slice(0, 200)}`);
}
