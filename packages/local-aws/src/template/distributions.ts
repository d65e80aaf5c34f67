import type { CacheBehavior, LocalBuild, LocalDistribution, LocalHttpApi, PolicyStatement } from './model.ts';
import { account, region } from './names.ts';
import { NotUnderstood, type Properties } from './properties.ts';

interface Resource {
  logicalId: string;
  ref: string;
  attributes: Record<string, string>;
  properties: Properties;
}

type ByType = (type: string) => Resource[];

/** A bucket that CloudFormation fills. */
export interface FilledBucket {
  arn: string;
  domainName: string;
  policy: PolicyStatement[];
  build: Omit<LocalBuild, 'missingStatus'>;
}

/** Ids of CloudFront's managed policies. */
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const cachingOptimized = '658327ea-f89d-4fab-a63d-7e88639e58f6';
/** Adds the CORS header that API Gateway adds here. */
const simpleCors = '60669652-455b-4ae9-85a4-c4c02393f86c';
const allViewerExceptHostHeader = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

/** Statuses whose responses CloudFront caches for ten seconds by default. */
const cachedStatuses = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504];

/** CloudFront quotas: additional behaviors, lengths of a path pattern and a header, bytes of a function. */
const maxBehaviors = 25;
const maxHeader = 1_783;
const maxPattern = 255;
const maxCodeBytes = 10_240;

const apiGatewaySeconds = 30;

/** Reads the distributions, or throws if CloudFront would refuse one, or its origin a request. */
export function readDistributions(ofType: ByType, apis: LocalHttpApi[], buckets: FilledBucket[]): LocalDistribution[] {
  const functions = new Map(ofType('AWS::CloudFront::Function').map(readCode));
  const policies = new Map([...ofType('AWS::CloudFront::ResponseHeadersPolicy').map(readHeaders), [simpleCors, {}]]);
  const caches = new Set(ofType('AWS::CloudFront::CachePolicy').map(readCachePolicy));
  const signing = new Set(ofType('AWS::CloudFront::OriginAccessControl').map(readAccessControl));
  return ofType('AWS::CloudFront::Distribution').map(({ logicalId, ref, attributes, properties }) => {
    const config = properties.object('DistributionConfig');
    config.only('Enabled', true);
    config.pass('Texts for people', 'Comment');
    config.pass('HTTP/1.1 on one machine', 'HttpVersion', 'IPV6Enabled', 'PriceClass');
    checkErrorCaching(logicalId, config.objects('CustomErrorResponses'));
    const origins = new Map(
      config
        .objects('Origins')
        .map((origin) => [origin.text('Id'), readOrigin(origin, ref, { apis, buckets, signing })]),
    );
    const read = (behavior: Properties, pattern: string): CacheBehavior => {
      const origin = origins.get(behavior.text('TargetOriginId'));
      if (!origin) throw new NotUnderstood(`${logicalId} has no origin for ${pattern}.`);
      return readBehavior(behavior, { logicalId, pattern, origin, functions, policies, caches });
    };
    const additional = config.objects('CacheBehaviors');
    if (additional.length > maxBehaviors)
      throw new NotUnderstood(`${logicalId}: CloudFront takes ${maxBehaviors} behaviors, not ${additional.length}.`);
    return {
      logicalId,
      domainName: attributes.DomainName ?? '',
      behaviors: [
        ...additional.map((behavior) => read(behavior, behavior.text('PathPattern'))),
        read(config.object('DefaultCacheBehavior'), '*'),
      ],
    };
  });
}

function readCode({ logicalId, attributes, properties }: Resource): [arn: string, code: string] {
  const config = properties.object('FunctionConfig');
  config.only('Runtime', 'cloudfront-js-2.0');
  config.pass('A text for people', 'Comment');
  properties.pass('A name', 'Name');
  properties.only('AutoPublish', true);
  const code = properties.text('FunctionCode');
  if (Buffer.byteLength(code) > maxCodeBytes)
    throw new NotUnderstood(`${logicalId}: CloudFront takes functions of ${maxCodeBytes} bytes.`);
  return [attributes.FunctionARN ?? '', code];
}

function readHeaders({ ref, properties }: Resource): [id: string, headers: Record<string, string>] {
  const config = properties.object('ResponseHeadersPolicyConfig');
  config.pass('Texts for people', 'Comment', 'Name');
  const security = config.object('SecurityHeadersConfig');
  const headers: Record<string, string> = {};
  const take = (name: string, header: Properties, value: (header: Properties) => string) => {
    // CloudFront leaves out absent headers.
    const override = header.raw('Override');
    if (override === undefined) return;
    if (override !== true) throw new NotUnderstood(`${ref}: ${name} does not replace that of the origin.`);
    headers[name] = value(header);
    if (headers[name].length > maxHeader)
      throw new NotUnderstood(`${ref}: CloudFront takes ${maxHeader} characters of ${name}.`);
  };
  take('content-security-policy', security.object('ContentSecurityPolicy'), (it) => it.text('ContentSecurityPolicy'));
  take('x-content-type-options', security.object('ContentTypeOptions'), () => 'nosniff');
  take('referrer-policy', security.object('ReferrerPolicy'), (it) => it.text('ReferrerPolicy'));
  for (const header of config.object('CustomHeadersConfig').objects('Items'))
    take(header.text('Header').toLowerCase(), header, (it) => it.text('Value'));
  return [ref, headers];
}

/** Nothing is cached here. In AWS, responses must say how long they are, and all that they depend on is in the key. */
function readCachePolicy({ ref, properties }: Resource): string {
  const config = properties.object('CachePolicyConfig');
  config.pass('Texts for people', 'Comment', 'Name');
  config.only('MinTTL', 0);
  config.only('DefaultTTL', 0);
  config.pass('Nothing is cached', 'MaxTTL');
  const key = config.object('ParametersInCacheKeyAndForwardedToOrigin');
  key.pass('Compression is not imitated', 'EnableAcceptEncodingGzip', 'EnableAcceptEncodingBrotli');
  key.pass('The origin request policy forwards more', 'CookiesConfig', 'HeadersConfig', 'QueryStringsConfig');
  return ref;
}

function readAccessControl({ ref, properties }: Resource): string {
  const config = properties.object('OriginAccessControlConfig');
  config.pass('A name', 'Name');
  config.only('OriginAccessControlOriginType', 's3');
  config.only('SigningBehavior', 'always');
  config.only('SigningProtocol', 'sigv4');
  return ref;
}

/** Nothing is cached here. In AWS, one caller must not receive another's refusal. */
function checkErrorCaching(logicalId: string, responses: Properties[]): void {
  const notCached = responses.map((response) => {
    response.only('ErrorCachingMinTTL', 0);
    return response.number('ErrorCode', 0);
  });
  const cached = cachedStatuses.filter((status) => !notCached.includes(status));
  if (cached.length > 0) throw new NotUnderstood(`${logicalId} keeps responses of status ${cached.join(', ')}.`);
}

function readOrigin(
  origin: Properties,
  distribution: string,
  { apis, buckets, signing }: { apis: LocalHttpApi[]; buckets: FilledBucket[]; signing: Set<string> },
): CacheBehavior['origin'] {
  const host = origin.text('DomainName');
  const headers = Object.fromEntries(
    origin
      .objects('OriginCustomHeaders')
      .map((header) => [header.text('HeaderName').toLowerCase(), header.text('HeaderValue')]),
  );
  const bucket = buckets.find(({ domainName }) => domainName === host);
  if (bucket) {
    origin.object('S3OriginConfig').only('OriginAccessIdentity', '');
    if (!signing.has(origin.text('OriginAccessControlId')))
      throw new NotUnderstood(`${distribution} does not sign its requests to ${host}.`);
    return { kind: 'build', build: readableBuild(bucket, distribution) };
  }
  const api = apis.find(({ apiId }) => host === `${apiId}.execute-api.${region}.amazonaws.com`);
  if (!api) throw new NotUnderstood(`${distribution} has the origin ${host}, which the template does not have.`);
  const config = origin.object('CustomOriginConfig');
  config.only('OriginProtocolPolicy', 'https-only');
  config.pass('Connections within one process', 'OriginKeepaliveTimeout', 'OriginSSLProtocols');
  if (config.number('OriginReadTimeout', apiGatewaySeconds) <= apiGatewaySeconds)
    throw new NotUnderstood(`${distribution} does not wait for ${host} as long as a request may take there.`);
  return { kind: 'api', api, host, headers };
}

function readableBuild({ arn, policy, build }: FilledBucket, distribution: string): LocalBuild {
  const source = `arn:aws:cloudfront::${account}:distribution/${distribution}`;
  const allows = (action: string, resource: string) =>
    policy.some(
      ({ effect, principals = [], actions, resources, conditions }) =>
        effect === 'Allow' &&
        principals.some(({ type, value }) => type === 'Service' && value === 'cloudfront.amazonaws.com') &&
        actions.includes(action) &&
        resources.includes(resource) &&
        JSON.stringify(conditions) === JSON.stringify({ StringEquals: { 'AWS:SourceArn': [source] } }),
    );
  if (!allows('s3:GetObject', `${arn}/*`)) throw new NotUnderstood(`${distribution} may not read ${arn}.`);
  return { ...build, missingStatus: allows('s3:ListBucket', arn) ? 404 : 403 };
}

interface BehaviorContext {
  logicalId: string;
  pattern: string;
  origin: CacheBehavior['origin'];
  functions: Map<string, string>;
  policies: Map<string, Record<string, string>>;
  caches: Set<string>;
}

function readBehavior(
  behavior: Properties,
  { logicalId, pattern, origin, functions, policies, caches }: BehaviorContext,
): CacheBehavior {
  if (pattern.length > maxPattern)
    throw new NotUnderstood(`${logicalId}: CloudFront takes patterns of ${maxPattern} characters.`);
  behavior.pass('TLS and compression are not imitated', 'ViewerProtocolPolicy', 'Compress');
  // API responses are for one caller, unless paths of their own have a policy; files of the build are the same for all.
  const isApi = origin.kind === 'api';
  const ownPolicies = pattern === '*' ? [] : [...caches];
  behavior.only('CachePolicyId', ...(isApi ? [cachingDisabled, ...ownPolicies] : [cachingOptimized]));
  if (behavior.optionalText('OriginRequestPolicyId') !== (isApi ? allViewerExceptHostHeader : undefined))
    throw new NotUnderstood(`${logicalId} sends other headers to the origin of ${pattern} than that takes.`);
  const codes = behavior.objects('FunctionAssociations').map((association) => {
    association.only('EventType', 'viewer-request');
    const arn = association.text('FunctionARN');
    const code = functions.get(arn);
    if (code === undefined) throw new NotUnderstood(`${logicalId} has a function that the template does not have.`);
    return code;
  });
  if (codes.length > 1) throw new NotUnderstood(`${logicalId} has ${codes.length} functions for ${pattern}.`);
  const policy = behavior.optionalText('ResponseHeadersPolicyId');
  const headers = policy === undefined ? {} : policies.get(policy);
  if (!headers) throw new NotUnderstood(`${logicalId} has a policy of headers that the template does not have.`);
  return { pattern, methods: behavior.texts('AllowedMethods'), origin, code: codes[0], headers };
}
