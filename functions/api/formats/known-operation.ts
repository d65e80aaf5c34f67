import { type ProcessingOperation, processingOperations } from '../../../shared/operations/operations.ts';
import { notFound } from '../http/errors.ts';

/** Returns the operation in a path, or throws the 404. */
export function knownOperation(name: string): ProcessingOperation {
  const operation = processingOperations.find((known) => known === name);
  if (!operation)
    throw notFound(
      `There is no operation ${JSON.stringify(name.slice(0, 50))}. Operations: ${processingOperations.join(', ')}.`,
    );
  return operation;
}
