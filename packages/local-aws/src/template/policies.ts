import type { LocalFunction, LocalRole, PolicyStatement, Principal } from './model.ts';
import { isObject, NotUnderstood, type Properties } from './properties.ts';

/** Reads the statements of a policy document. */
export function readPolicy(document: Properties): PolicyStatement[] {
  document.only('Version', '2012-10-17');
  return document.objects('Statement').map(readStatement);
}

/**
 * Returns whether the role of an integration allows invoking a function: by its exact ARN, without conditions, and
 * without denials.
 */
export function mayInvoke({ statements }: LocalRole, { arn }: Pick<LocalFunction, 'arn'>): boolean {
  if (statements.some(({ effect }) => effect === 'Deny')) return false;
  return statements.some(
    ({ actions, resources, conditions }) =>
      actions.includes('lambda:InvokeFunction') && resources.includes(arn) && Object.keys(conditions).length === 0,
  );
}

function readStatement(statement: Properties): PolicyStatement {
  const effect = statement.text('Effect');
  if (effect !== 'Allow' && effect !== 'Deny') throw new NotUnderstood(`A policy has the effect ${effect}.`);
  const principals = readPrincipals(statement.raw('Principal'));
  statement.pass('A name for people', 'Sid');
  return {
    effect,
    ...(principals ? { principals } : {}),
    actions: statement.texts('Action'),
    resources: statement.texts('Resource'),
    conditions: readConditions(statement.raw('Condition')),
  };
}

function readPrincipals(value: unknown): Principal[] | undefined {
  if (value === undefined) return undefined;
  if (value === '*') return [{ type: '*', value: '*' }];
  if (!isObject(value))
    throw new NotUnderstood(`The principal ${JSON.stringify(value)} is not understood by the local stack.`);
  return Object.entries(value).flatMap(([type, names]) => {
    if (type !== 'AWS' && type !== 'Service')
      throw new NotUnderstood(`Principals of type ${type} are not understood by the local stack.`);
    return [names]
      .flat()
      .map((name): Principal => (name === '*' ? { type: '*', value: '*' } : { type, value: String(name) }));
  });
}

function readConditions(value: unknown): Record<string, Record<string, string[]>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([operator, keys]) => [
      operator,
      Object.fromEntries(
        Object.entries(isObject(keys) ? keys : {}).map(([key, accepted]) => [key, [accepted].flat().map(String)]),
      ),
    ]),
  );
}
