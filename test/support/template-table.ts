import { functionVariable } from '../../shared/aws/queues.ts';
import { type Identified, type Json, referredTo, resourcesOf, statementsOf, type Template } from './template.ts';

/**
 * Properties that a table below shows, that a rule in the test checks, or that only describe. All others are listed
 * individually.
 */
const covered: Record<string, string[]> = {
  'AWS::ApiGatewayV2::Integration': [
    ...['ApiId', 'CredentialsArn', 'IntegrationType', 'IntegrationUri', 'PayloadFormatVersion'],
  ],
  // A test runs its code.
  'AWS::CloudFront::Function': ['FunctionCode'],
  'AWS::ApiGatewayV2::Route': ['ApiId', 'AuthorizationType', 'RouteKey', 'Target'],
  // For people; a rule in the test counts its metrics.
  'AWS::CloudWatch::Dashboard': ['DashboardBody'],
  'AWS::IAM::Role': ['AssumeRolePolicyDocument', 'Description', 'Policies'],
  'AWS::Lambda::Function': [
    ...['Architectures', 'Code', 'Description', 'Environment', 'EphemeralStorage', 'Handler', 'LoggingConfig'],
    ...['MemorySize', 'PackageType', 'Role', 'Runtime', 'Timeout'],
  ],
  // The key of its zip changes with its packages.
  'AWS::Lambda::LayerVersion': ['Content', 'Description'],
  'AWS::Lambda::Permission': ['Action', 'FunctionName', 'Principal', 'SourceArn'],
  'AWS::Logs::LogGroup': ['RetentionInDays'],
  // The key of the build changes with the sources of the page.
  'Custom::CDKBucketDeployment': ['SourceObjectKeys'],
};

/** Types whose properties a table below shows completely. */
const whole = ['AWS::CloudWatch::Alarm', 'AWS::Lambda::EventSourceMapping', 'AWS::SQS::Queue'];

/** Formats a template as tables for review: a changed limit, grant, route or retention changes a line. */
export function templateTable(template: Template): string {
  const functions = resourcesOf(template, 'AWS::Lambda::Function');
  const {
    engines = [],
    deployers = [],
    others = [],
  } = Object.groupBy(functions, ({ Properties, Metadata }) => {
    if (Metadata?.['local-aws:entry'] === undefined) return 'deployers';
    return Properties.PackageType === 'Image' || Properties.Layers !== undefined ? 'engines' : 'others';
  });
  const sections: [string, string[]][] = [
    ['Resources', resourceRows(template)],
    ['Parameters', parameterRows(template)],
    [
      'Conditions',
      Object.entries(template.Conditions ?? {}).map(([name, condition]) => `- ${name}: ${short(condition)}`),
    ],
    ['Outputs', Object.entries(template.Outputs).map(([name, output]) => `- ${name}: ${short(output)}`)],
    ['Functions', functionRows(template)],
    ['Grants', grouped(functions, (fn) => grantsOf(template, fn), '\n- ')],
    ['Environment', grouped(others, environmentOf, ', ')],
    ['Environment of engines', grouped(engines, environmentOf, ', ')],
    ['Environment of what runs in a deployment', grouped(deployers, environmentOf, ', ')],
    ['Behaviors of the distribution', behaviorRows(template)],
    ['Queues', queueRows(template)],
    ['Alarms', alarmRows(template)],
    ['All other properties', otherProperties(template)],
  ];
  return sections.flatMap(([title, lines]) => [`## ${title}`, '', ...lines, '']).join('\n');
}

function resourceRows({ Resources }: Template): string[] {
  const counts = new Map<string, number>();
  for (const { Type, DeletionPolicy = '', UpdateReplacePolicy = '' } of Object.values(Resources)) {
    const row = [Type, DeletionPolicy, UpdateReplacePolicy].join(' | ');
    counts.set(row, (counts.get(row) ?? 0) + 1);
  }
  const rows = [...counts].map(([row, count]) => [row, String(count)]).sort();
  return table(['type | when deleted | when replaced', 'count'], rows);
}

function parameterRows({ Parameters }: Template): string[] {
  return table(
    ['parameter', 'type', 'default'],
    Object.entries(Parameters).map(([name, { Type, Default = '' }]) => [name, Type, Default]),
  );
}

function functionRows(template: Template): string[] {
  const names = [
    'function',
    'module',
    'runs on',
    'MB',
    'seconds',
    'disk MB',
    'log days',
    'queues',
    'routes',
    'invokers',
  ];
  const rows = resourcesOf(template, 'AWS::Lambda::Function').map(({ id, Properties, Metadata }) => {
    const { LogGroup, ...logging } = Properties.LoggingConfig as { LogGroup: Json; LogFormat: Json };
    const group = template.Resources[referredTo(LogGroup)];
    return [
      functionName(id),
      short(Metadata?.['local-aws:entry']),
      [short(Properties.Runtime ?? Properties.PackageType), short(Properties.Architectures)].join(' '),
      short(Properties.MemorySize),
      short(Properties.Timeout),
      short((Properties.EphemeralStorage as { Size: Json } | undefined)?.Size),
      `${short(group?.Properties.RetentionInDays)} ${short(logging.LogFormat)}`,
      sourcesOf(template, id).map(describeSource).join(', '),
      routesOf(template, id).join(', '),
      invokersOf(template, id).join(', '),
    ];
  });
  return table(names, rows.sort());
}

function sourcesOf(template: Template, fn: string): Record<string, Json>[] {
  return resourcesOf(template, 'AWS::Lambda::EventSourceMapping')
    .map(({ Properties }) => Properties)
    .filter(({ FunctionName }) => referredTo(FunctionName) === fn);
}

function describeSource({ FunctionName, EventSourceArn, ...rest }: Record<string, Json>): string {
  return `${short(EventSourceArn)} ${short(rest)}`;
}

function routesOf(template: Template, fn: string): string[] {
  return resourcesOf(template, 'AWS::ApiGatewayV2::Route')
    .filter(({ Properties }) => {
      const integration = template.Resources[referredTo(Properties.Target)];
      return JSON.stringify(integration?.Properties.IntegrationUri).includes(`"${fn}"`);
    })
    .map(({ Properties: { ApiId, RouteKey, AuthorizationType } }) =>
      [short(ApiId), short(RouteKey), AuthorizationType === 'NONE' ? '' : short(AuthorizationType)].join(' ').trim(),
    );
}

function invokersOf(template: Template, fn: string): string[] {
  const permitted = resourcesOf(template, 'AWS::Lambda::Permission')
    .filter(({ Properties }) => referredTo(Properties.FunctionName) === fn)
    .map(
      ({ Properties }) => `${short(Properties.Principal).replace('.amazonaws.com', '')} ${short(Properties.SourceArn)}`,
    );
  const roles = resourcesOf(template, 'AWS::ApiGatewayV2::Integration')
    .filter(({ Properties }) => Properties.CredentialsArn !== undefined && referredTo(Properties.IntegrationUri) === fn)
    .map(({ Properties }) => short(Properties.CredentialsArn));
  return [...permitted, ...roles];
}

/**
 * Lists the grants of a function's role. Its own resources (log group, queues, engine) are not named, so that equal
 * grants read the same.
 */
function grantsOf(template: Template, { id, Properties }: Identified): string[] {
  const role = referredTo(Properties.Role);
  const { LogGroup } = Properties.LoggingConfig as { LogGroup: Json };
  const own = new Map([
    [short(LogGroup), 'own logs'],
    ...Object.entries(variablesOf({ Properties }))
      .filter(([name]) => name.startsWith(functionVariable('')))
      .map(([, value]): [string, string] => [short(value), 'own engine']),
    ...sourcesOf(template, id).map((source): [string, string] => [short(source.EventSourceArn), 'own queues']),
  ]);
  return resourcesOf(template, 'AWS::IAM::Role')
    .filter(({ id: holder }) => holder === role)
    .flatMap(statementsOf)
    .map(({ Effect, Action, Resource, ...rest }) => {
      const resources = [Resource ?? []].flat().map(short);
      const isOwn = resources.every((resource) => own.has(resource));
      const [service] = short([Action ?? []].flat()[0]).split(':');
      const actions = short(Action).replaceAll(`, ${service}:`, ', ');
      const condition = Object.keys(rest).length > 0 ? ` where ${short(rest).slice(1, -1)}` : '';
      return `${Effect === 'Allow' ? '' : `${short(Effect)} `}${actions} on ${[...new Set(isOwn ? resources.map((resource) => own.get(resource)) : resources)].join(', ')}${condition}`;
    })
    .sort();
}

/** Variables whose values the rules compare with the routes and engines; the version changes with every release. */
const unnamed = /^LATHE_(ENGINE|FUNCTION_[A-Z]+|OPERATION|VERSION)$/;

function environmentOf(fn: Identified): string[] {
  return Object.entries(variablesOf(fn))
    .map(([name, value]) => (unnamed.test(name) ? name.replace(/(?<=FUNCTION_).*/, '…') : `${name}=${short(value)}`))
    .sort();
}

function variablesOf({ Properties }: Pick<Identified, 'Properties'>): Record<string, Json> {
  const { Variables } = (Properties.Environment ?? { Variables: {} }) as { Variables: Record<string, Json> };
  return Variables;
}

function behaviorRows(template: Template): string[] {
  const rows = resourcesOf(template, 'AWS::CloudFront::Distribution').flatMap(({ Properties }) => {
    const { CacheBehaviors, DefaultCacheBehavior } = Properties.DistributionConfig as Record<string, Json>;
    return [CacheBehaviors ?? [], DefaultCacheBehavior ?? []].flat().map((behavior) => {
      const { PathPattern = '', AllowedMethods, FunctionAssociations, ...rest } = behavior as Record<string, Json>;
      return [short(PathPattern), ...[AllowedMethods, FunctionAssociations, rest].map(short)];
    });
  });
  return table(['path', 'methods', 'function', 'other'], rows);
}

function queueRows(template: Template): string[] {
  const rows = resourcesOf(template, 'AWS::SQS::Queue').map(({ id, Properties }) => {
    const { VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy, ...rest } = Properties;
    return [nameOf(id), ...[VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy, rest].map(short)];
  });
  return table(['queue', 'visibility timeout', 'retention', 'redrive', 'other'], rows.sort());
}

function alarmRows(template: Template): string[] {
  const rows = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ id, Properties }) => {
    const { Namespace, MetricName, Dimensions, Statistic, Period, EvaluationPeriods, Threshold, ...rest } = Properties;
    const { AlarmDescription: _description, AlarmActions, ...other } = rest;
    const metric = [Namespace, MetricName, Dimensions].map(short).join(' ').trim();
    return [nameOf(id), metric, ...[Statistic, Period, EvaluationPeriods, Threshold, AlarmActions, other].map(short)];
  });
  return table(['alarm', 'metric', 'statistic', 'period', 'periods', 'threshold', 'notifies', 'other'], rows.sort());
}

function otherProperties({ Resources }: Template): string[] {
  return Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) =>
    whole.includes(Type)
      ? []
      : Object.entries(Properties)
          .filter(([property]) => !covered[Type]?.includes(property))
          .map(([property, value]) => `- ${nameOf(id)} ${property}: ${short(withoutBehaviors(value))}`),
  );
}

function withoutBehaviors(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const { CacheBehaviors: _behaviors, DefaultCacheBehavior: _default, ...rest } = value;
  return rest;
}

/** Lists items common to all functions once, and equal sets of the rest once, under the names of their functions. */
function grouped(functions: Identified[], itemsOf: (fn: Identified) => string[], separator: string): string[] {
  const entries = functions.map((fn) => [functionName(fn.id), itemsOf(fn)] as const);
  const holders = entries.filter(([, items]) => items.length > 0);
  const common = holders[0]?.[1].filter((item) => holders.every(([, items]) => items.includes(item))) ?? [];
  const groups = Map.groupBy(entries, ([, items]) =>
    items.length === 0 ? 'nothing at all' : items.filter((item) => !common.includes(item)).join(separator),
  );
  return [
    ...['All, but for those with nothing at all:', `- ${common.join(separator)}`],
    ...[...groups].flatMap(([text, members]) => [
      ...['', `${members.map(([name]) => name).join(', ')}:`],
      `- ${text || 'no more'}`,
    ]),
  ];
}

function table(names: string[], rows: string[][]): string[] {
  const header = `| ${names.join(' | ')} |`;
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  return [header, header.replace(/[^|]+/g, ' --- '), ...lines];
}

/** Formats a value in one line, with references as names. */
function short(value: Json | undefined): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map(short).join(', ');
  if (value === null || typeof value !== 'object') return String(value);
  const { Ref: reference, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value;
  if (typeof reference === 'string') return nameOf(reference);
  if (Array.isArray(attribute)) {
    const [id, name] = attribute.map(String);
    return name === 'Arn' ? nameOf(id ?? '') : `${nameOf(id ?? '')}.${name}`;
  }
  if (Array.isArray(join) && Array.isArray(join[1])) {
    const text = join[1].map(short).join(short(join[0]));
    return text.replace(/^arn:AWS::Partition:[\w-]+:AWS::Region:AWS::AccountId:/, '');
  }
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${short(item)}`)
    .join(', ')}}`;
}

/** Drops the CDK's hash from a logical id. */
function nameOf(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}

function functionName(id: string): string {
  return nameOf(id).replace(/Function$/, '');
}
