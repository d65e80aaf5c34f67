import { PriceClass } from 'aws-cdk-lib/aws-cloudfront';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** Context values that shape a deployment, checked. */
export interface Deployment {
  /** Part of the stack's name, for several stacks in one account and region. Empty by default. */
  stage: string;
  /** Whether table and bucket outlive the stack, and are protected from deletion with it. */
  keepsData: boolean;
  region: string | undefined;
  logDays: RetentionDays;
  /** Requests per second that the API accepts from all accounts together, and its burst. */
  throttle: { rate: number; burst: number };
  /** Whether the page is deployed, with a distribution for it and the API. */
  page: boolean;
  /** Locations of the distribution's servers. */
  priceClass: PriceClass;
  /** Web ACL of the distribution. */
  webAclArn: string | undefined;
  /** Domain of the distribution. */
  domain: CustomDomain | undefined;
  /** Domain of the WebSocket API, which a distribution for an HTTP API cannot serve. */
  socketsDomain: CustomDomain | undefined;
  /** Receives alarms; absent for nobody. */
  alarmEmail: string | undefined;
  /** Whether anyone may sign up to the stack's user pool. */
  signUp: boolean;
  /** Packaging of the engine with layers: an image, or a zip, in which its sandbox cannot start. */
  webpagePackaging: 'image' | 'zip';
}

export interface CustomDomain {
  host: string;
  certificateArn: string;
}

/** The region of certificates and web ACLs for CloudFront, which is global. */
const globalRegion = 'us-east-1';

/** Stages whose data may be lost. */
const disposableStages = ['dev', 'test'];

/** Reads a context value, or throws an error that names what was expected. Absent ones are empty. */
type Read = (name: string, form?: RegExp, expected?: string) => string;

/** Reads the context values of a deployment, or throws an error that names the invalid one. */
export function readDeployment(scope: Construct): Deployment {
  const read: Read = (name, form = /^/, expected = '') => {
    const text = String(scope.node.tryGetContext(name) ?? '').trim();
    if (text === '' || form.test(text)) return text;
    throw new Error(`Expected ${expected} for ${name} but received ${text}.`);
  };
  const readBoolean = (name: string) => read(name, /^(?:true|false)$/, 'true or false');
  const stage = read('stage', /^[a-z][a-z0-9-]{0,19}$/, 'up to 20 small letters, digits and hyphens');
  const keepData = readBoolean('keepData');
  const region = read('region', /^[a-z]{2,}(?:-[a-z]+)+-\d$/, 'a region of AWS') || undefined;
  const page = readBoolean('page') !== 'false';
  return {
    stage,
    keepsData: keepData === '' ? !disposableStages.includes(stage) : keepData === 'true',
    region,
    logDays: readLogDays(read('logDays')),
    throttle: { rate: readNumber(read, 'throttleRate', 500), burst: readNumber(read, 'throttleBurst', 1_000) },
    page,
    ...readDistribution(read, page),
    ...readDomains(read, region),
    alarmEmail: read('alarmEmail', /^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address') || undefined,
    signUp: readBoolean('signUp') === 'true',
    webpagePackaging: readWebpagePackaging(read),
  };
}

function readWebpagePackaging(read: Read): Deployment['webpagePackaging'] {
  if (read('webpagePackaging', /^(?:image|zip)$/, 'image or zip') !== 'zip') return 'image';
  if (read('architecture') === 'arm64')
    throw new Error(
      'Expected image for webpagePackaging with architecture arm64 but received zip: the Chromium of its layers is built for x86_64 only.',
    );
  return 'zip';
}

function readDistribution(read: Read, page: boolean): Pick<Deployment, 'priceClass' | 'webAclArn'> {
  const needless = ['domain', 'certificateArn', 'priceClass', 'webAclArn'].find((name) => read(name) !== '');
  if (!page && needless !== undefined)
    throw new Error(
      `Expected no ${needless} with page set to false: it applies to the distribution, and there is none.`,
    );
  const form = /^arn:[\w-]+:wafv2:us-east-1:\d{12}:global\/webacl\/\S+$/;
  const webAclArn = read('webAclArn', form, 'the ARN of a web ACL for CloudFront, which is in us-east-1');
  const wanted = read('priceClass') || '100';
  const priceClass = Object.values(PriceClass).find((each) => each === `PriceClass_${wanted}`);
  if (!priceClass) throw new Error(`Expected 100, 200 or All for priceClass but received ${wanted}.`);
  return { priceClass, webAclArn: webAclArn || undefined };
}

function readDomains(read: Read, region: string | undefined): Pick<Deployment, 'domain' | 'socketsDomain'> {
  const [domain, sockets] = [readHost(read, 'domain'), readHost(read, 'socketsDomain')];
  const certificate = readCertificate(read, 'certificateArn');
  const ofSockets = readCertificate(read, 'socketsCertificateArn');
  if (domain === '' && certificate.arn !== '')
    throw new Error('Expected domain with certificateArn but received none.');
  if (sockets === '' && ofSockets.arn !== '')
    throw new Error('Expected socketsDomain with socketsCertificateArn but received none.');
  if (domain !== '' && domain === sockets)
    throw new Error(`Expected another host for socketsDomain than for domain but received ${domain}.`);
  return {
    domain: domain === '' ? undefined : { host: domain, certificateArn: certificateOfDistribution(certificate) },
    socketsDomain:
      sockets === ''
        ? undefined
        : { host: sockets, certificateArn: certificateOfSockets(ofSockets, certificate, region) },
  };
}

interface CertificateName {
  arn: string;
  region: string;
}

function certificateOfDistribution({ arn, region }: CertificateName): string {
  if (arn === '') throw new Error('Expected certificateArn with domain but received none.');
  if (region !== globalRegion)
    throw new Error(
      `Expected a certificate in ${globalRegion} for certificateArn, the only region that CloudFront supports, but received ${arn}.`,
    );
  return arn;
}

function certificateOfSockets(own: CertificateName, other: CertificateName, region: string | undefined): string {
  if (own.arn === '') {
    if (region === globalRegion && other.arn !== '') return other.arn;
    throw new Error(
      `Expected socketsCertificateArn with socketsDomain but received none. It defaults to certificateArn only with region=${globalRegion}, because it must be in the region of the WebSocket API.`,
    );
  }
  if (region !== undefined && own.region !== region)
    throw new Error(
      `Expected a certificate in ${region} for socketsCertificateArn, the region of the WebSocket API, but received ${own.arn}.`,
    );
  return own.arn;
}

function readHost(read: Read, name: string): string {
  return read(name, /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, 'a host name');
}

function readCertificate(read: Read, name: string): CertificateName {
  const form = /^arn:[\w-]+:acm:(?<region>[a-z0-9-]+):\d{12}:certificate\/\S+$/;
  const arn = read(name, form, 'the ARN of a certificate');
  return { arn, region: form.exec(arn)?.groups?.region ?? '' };
}

function readLogDays(text: string): RetentionDays {
  if (text === '') return RetentionDays.ONE_MONTH;
  const days = Object.values(RetentionDays).find((candidate) => candidate === Number(text));
  if (typeof days === 'number' && days !== RetentionDays.INFINITE) return days;
  throw new Error(
    `Expected a retention that CloudWatch offers (1, 3, 5, 7, 14, 30, 60, 90, …) for logDays but received ${text}.`,
  );
}

function readNumber(read: Read, name: string, usual: number): number {
  const text = read(name);
  const value = text === '' ? usual : Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`Expected a positive integer for ${name} but received ${text}.`);
}
