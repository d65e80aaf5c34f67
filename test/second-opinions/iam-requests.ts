import type { RecordedDecision } from '../../packages/local-aws/src/iam/record.ts';

/** A request as far as policies can distinguish it. */
export type AccessQuestion = Pick<RecordedDecision, 'action' | 'resource' | 'conditions'>;

/** Changes to a condition value after which exact policies no longer match, or still do. */
const otherValues: ((value: string) => string)[] = [
  (value) => value.replace(/…$/, ''),
  (value) => value.replace(/[#/]…?$/, ''),
  (value) => value.toUpperCase(),
  (value) => `x${value}`,
  (value) => `${value}*`,
  () => '',
];

const otherResources: ((resource: string) => string)[] = [
  (resource) => `${resource}x`,
  (resource) => resource.replace(/:([a-z-]+\/)?([A-Za-z0-9.-]+)/, (_all, type = '', name) => `:${type}x${name}`),
  (resource) => resource.replace(/^((?:[^:]*:){5})(.*)$/s, (_all, head, name) => `${head}${name.toUpperCase()}`),
  (resource) => resource.replace(/^((?:[^:]*:){5})/, '$1x:'),
  (resource) => resource.replace(/:0{12}:/, ':111111111111:'),
  (resource) => resource.replace('us-east-1', 'eu-central-1'),
  (resource) => resource.replace(/\/.*$/s, ''),
  (resource) => resource.replace(/\/…$/, '/'),
  (resource) => resource.replace(/(arn:aws:s3:::[^/]+).*$/s, '$1/other/…'),
];

/** Returns questions that differ from one in one property each. */
export function vary(question: AccessQuestion): AccessQuestion[] {
  const { resource, conditions } = question;
  const keys = Object.entries(conditions);
  return [
    ...otherResources.map((change) => ({ ...question, resource: change(resource) })),
    ...keys.map(([key]) => ({ ...question, conditions: without(conditions, key) })),
    ...keys.flatMap(([key, values]) =>
      (values.every(isArn) ? otherResources : otherValues).flatMap((change) => [
        { ...question, conditions: { ...conditions, [key]: values.map(change) } },
        // One matching value does not make up for another.
        { ...question, conditions: { ...conditions, [key]: [...values, ...values.map(change)] } },
      ]),
    ),
  ].filter(({ resource: each }) => each === '*' || isArn(each));
}

function isArn(text: string): boolean {
  return text.startsWith('arn:');
}

function without(conditions: Record<string, string[]>, key: string): Record<string, string[]> {
  return Object.fromEntries(Object.entries(conditions).filter(([each]) => each !== key));
}
