import { authorizationFor } from './account.ts';

export type Outputs = Record<string, string>;

interface StackResource {
  id: string;
  type: string;
  status: string;
}

const capabilities = ['CAPABILITY_IAM', 'CAPABILITY_AUTO_EXPAND'];

/** Starts to create a stack, without rollback on failure. */
export async function createStack(
  endpoint: string,
  stack: { name: string; templateUrl: string; parameters: Record<string, string> },
): Promise<void> {
  await call(endpoint, {
    Action: 'CreateStack',
    StackName: stack.name,
    TemplateURL: stack.templateUrl,
    OnFailure: 'DO_NOTHING',
    ...Object.fromEntries(capabilities.map((name, index) => [`Capabilities.member.${index + 1}`, name])),
    ...Object.fromEntries(
      Object.entries(stack.parameters).flatMap(([name, value], index) => [
        [`Parameters.member.${index + 1}.ParameterKey`, name],
        [`Parameters.member.${index + 1}.ParameterValue`, value],
      ]),
    ),
  });
}

/** Returns the status and outputs of a stack. */
export async function describeStack(endpoint: string, name: string) {
  const stack = await call(endpoint, { Action: 'DescribeStacks', StackName: name });
  const outputs: Outputs = Object.fromEntries(
    membersOf(stack)
      .map((member) => [textOf(member, 'OutputKey'), textOf(member, 'OutputValue')])
      .filter(([key]) => key !== ''),
  );
  return { status: textOf(stack, 'StackStatus'), reason: textOf(stack, 'StackStatusReason'), outputs };
}

/** Returns the resources of a stack and its nested stacks. */
export async function listResources(endpoint: string, stack: string): Promise<StackResource[]> {
  const found: StackResource[] = [];
  let token = '';
  do {
    const next: Record<string, string> = token === '' ? {} : { NextToken: token };
    const page = await call(endpoint, { Action: 'ListStackResources', StackName: stack, ...next });
    for (const member of membersOf(page)) {
      const type = textOf(member, 'ResourceType');
      const physicalId = textOf(member, 'PhysicalResourceId');
      found.push({ id: textOf(member, 'LogicalResourceId'), type, status: textOf(member, 'ResourceStatus') });
      if (type === 'AWS::CloudFormation::Stack' && physicalId !== '')
        found.push(...(await listResources(endpoint, physicalId)));
    }
    token = textOf(page, 'NextToken');
  } while (token !== '');
  return found;
}

async function call(endpoint: string, parameters: Record<string, string>): Promise<string> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { authorization: authorizationFor('cloudformation') },
    body: new URLSearchParams({ Version: '2010-05-15', ...parameters }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`CloudFormation responded with status ${response.status}: ${text}`);
  return text;
}

/** Returns the members of the innermost lists in an XML response. */
function membersOf(xml: string): string[] {
  return [...xml.matchAll(/<member>((?:(?!<member>).)*?)<\/member>/gs)].map(([, text = '']) => text);
}

function textOf(xml: string, tag: string): string {
  return new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1] ?? '';
}
