import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** Context values that shape a deployment, checked. */
export interface Deployment {
  /** Part of the stack's name, so that several stand side by side in one account and region. Empty by default. */
  stage: string;
  /** Whether table and bucket outlive the stack, and neither they nor the stack are deleted by mistake. */
  keepsData: boolean;
  region: string | undefined;
  logDays: RetentionDays;
  /** Requests a second that the API accepts from all accounts together, and how many at once above that. */
  throttle: { rate: number; burst: number };
  domain: CustomDomain | undefined;
  /** Who is told of alarms; nobody where it is absent. */
  alarmEmail: string | undefined;
  /** Whether anybody may make themselves a user of the stack's user pool. */
  signUp: boolean;
}

export interface CustomDomain {
  /** Of the HTTP API. */
  api: string;
  /** Of the WebSocket API, which cannot share one with an HTTP API. */
  sockets: string | undefined;
  certificateArn: string;
}

/** Stages whose data is nobody's loss. */
const disposableStages = ['dev', 'test'];

/** Reads the context values of a deployment, or throws an error that names the wrong one. */
export function readDeployment(scope: Construct): Deployment {
  const text = (name: string): string => String(scope.node.tryGetContext(name) ?? '').trim();
  const stage = matching(
    'stage',
    text('stage'),
    /^(?:[a-z][a-z0-9-]{0,19})?$/,
    'up to 20 small letters, digits and hyphens',
  );
  const keepData = matching('keepData', text('keepData'), /^(?:true|false)?$/, 'true or false');
  const signUp = matching('signUp', text('signUp'), /^(?:true|false)?$/, 'true or false');
  return {
    stage,
    keepsData: keepData === '' ? !disposableStages.includes(stage) : keepData === 'true',
    region: matching('region', text('region'), /^(?:[a-z]{2,}(?:-[a-z]+)+-\d)?$/, 'a region of AWS') || undefined,
    logDays: readLogDays(text('logDays')),
    throttle: {
      rate: readNumber('throttleRate', text('throttleRate'), 500),
      burst: readNumber('throttleBurst', text('throttleBurst'), 1_000),
    },
    domain: readDomain(text('domain'), text('socketsDomain'), text('certificateArn')),
    alarmEmail:
      matching('alarmEmail', text('alarmEmail'), /^(?:[^\s@]+@[^\s@]+\.[^\s@]+)?$/, 'an e-mail address') || undefined,
    signUp: signUp === 'true',
  };
}

function readDomain(api: string, sockets: string, certificateArn: string): CustomDomain | undefined {
  const host = /^(?:(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,})?$/;
  matching('domain', api, host, 'a host name');
  matching('socketsDomain', sockets, host, 'a host name');
  matching('certificateArn', certificateArn, /^(?:arn:[\w-]+:acm:\S+)?$/, 'the ARN of a certificate');
  if (api === '' && (sockets !== '' || certificateArn !== ''))
    throw new Error('Expected domain where socketsDomain or certificateArn is given but received none.');
  if (api === '') return undefined;
  if (certificateArn === '') throw new Error('Expected certificateArn where domain is given but received none.');
  if (api === sockets) throw new Error(`Expected another host for socketsDomain than for domain but received ${api}.`);
  return { api, sockets: sockets || undefined, certificateArn };
}

function readLogDays(text: string): RetentionDays {
  if (text === '') return RetentionDays.ONE_MONTH;
  const days = Object.values(RetentionDays).find((candidate) => candidate === Number(text));
  if (typeof days === 'number' && days !== RetentionDays.INFINITE) return days;
  throw new Error(
    `Expected a retention that CloudWatch offers (1, 3, 5, 7, 14, 30, 60, 90, …) for logDays but received ${text}.`,
  );
}

function readNumber(name: string, text: string, usual: number): number {
  if (text === '') return usual;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`Expected a positive integer for ${name} but received ${text}.`);
  return value;
}

function matching(name: string, text: string, form: RegExp, expected: string): string {
  if (!form.test(text)) throw new Error(`Expected ${expected} for ${name} but received ${text}.`);
  return text;
}
