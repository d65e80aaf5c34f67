import { operations, type ProcessingOperation } from '../../shared/catalogue/catalogue.ts';
import { notFound } from '../../shared/http/errors.ts';

/** Returns the operation that a path names, or throws the 404 that any other path gets. */
export function knownOperation(name: string): ProcessingOperation {
  const operation = operations.find((known) => known === name);
  if (!operation)
    throw notFound(`There is no operation ${JSON.stringify(name.slice(0, 50))}. Operations: ${operations.join(', ')}.`);
  return operation;
}
