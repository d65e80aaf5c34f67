import { Annotations, CfnOutput, CfnResource, Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CacheCookieBehavior,
  CacheHeaderBehavior,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  type IOrigin,
  OriginRequestPolicy,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import {
  BlockPublicAccess,
  Bucket,
  BucketBase,
  BucketEncryption,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { BucketDeployment, type BucketDeploymentProps, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct, type IDependable } from 'constructs';
import { distributionHeader } from '../../shared/net/distribution.ts';
import type { OtherOrigins } from '../../web/headers.ts';
import { assetPaths, htmlFiles } from '../../web/html-files.ts';
import { readDeployment } from '../deployment.ts';
import { pageAsset } from './assets.ts';
import { expiringLogs } from './function.ts';
import { instantFunctionCode, pageFunctionCode, pictureFunctionCode } from './page-function.ts';
import { headersBehaviors } from './page-headers.ts';

/** Records the folder that the deployed files are built from, so that the local stack serves the same. */
const buildMetadata = 'local-aws:build';

/** API Gateway ends a request after 30 seconds, so the origin must wait longer. */
const originTimeout = Duration.seconds(35);

/**
 * Statuses that CloudFront would cache for ten seconds by path alone: one caller's refusal would be returned to others.
 */
const cachedStatuses = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

interface PageProps {
  api: HttpApi;
  origins: OtherOrigins;
}

/**
 * The page and the API on one host: a distribution that serves the page from a bucket, and forwards everything else to
 * the API.
 */
export class Page extends Construct {
  /** Root URL of page and API, as clients see it. */
  readonly url: string;
  /**
   * Sent by the distribution to the API in a header: the random part of the stack's id, which is not visible outside
   * the account.
   */
  readonly key: string;
  readonly #documents: BucketDeployment;

  constructor(scope: Construct, id: string, { api, origins }: PageProps) {
    super(scope, id);
    this.key = Fn.select(2, Fn.split('/', Stack.of(this).stackId));
    const { priceClass, domain, webAclArn } = readDeployment(this);
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // CloudFront cannot use the AWS managed KMS key, and the content is public.
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // Holds only the build.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const apiBehavior = this.#apiBehavior(api);
    const distribution = new Distribution(this, 'Distribution', {
      comment: `${Stack.of(this).stackName}: page and API`,
      defaultBehavior: apiBehavior,
      additionalBehaviors: {
        ...this.#pageBehaviors(this.#originOf(asInterface(bucket)), origins),
        '/i/*': this.#pictureBehavior(apiBehavior),
        '/v1/instant/*': {
          ...apiBehavior,
          functionAssociations: this.#onRequest('Instant', {
            comment: 'Refuses instant requests that are too large for the API',
            code: instantFunctionCode(),
          }),
        },
      },
      errorResponses: cachedStatuses.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      httpVersion: HttpVersion.HTTP2_AND_3,
      priceClass,
      ...(webAclArn === undefined ? {} : { webAclId: webAclArn }),
      ...(domain === undefined
        ? {}
        : {
            domainNames: [domain.host],
            certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
            minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
          }),
    });
    Annotations.of(distribution).acknowledgeWarning(
      '@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
      'The default behavior leads to the API, and the function leads / to a document: no request lists the bucket.',
    );
    if (domain)
      new CfnOutput(this, 'HostTarget', {
        value: distribution.distributionDomainName,
        description: `CNAME of ${domain.host}`,
      });
    this.url = `https://${domain?.host ?? distribution.distributionDomainName}`;
    this.#documents = this.#deploy(bucket);
  }

  /** Deploys documents after the given dependencies, which they call. */
  deployAfter(...dependencies: IDependable[]): void {
    this.#documents.node.addDependency(...dependencies);
  }

  #apiBehavior({ apiId }: HttpApi): BehaviorOptions {
    const { region, urlSuffix } = Stack.of(this);
    return {
      origin: new HttpOrigin(`${apiId}.execute-api.${region}.${urlSuffix}`, {
        customHeaders: { [distributionHeader]: this.key },
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
        readTimeout: originTimeout,
        keepaliveTimeout: Duration.seconds(60),
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // API Gateway finds the API by host, so the distribution's host must not be forwarded.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      // A redirect would come after the key was sent in clear text, and hide the mistake from the author of the URL.
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    };
  }

  /** Images by URL: responses of the API that are cached, for as long as they say, by path and by what browsers accept. */
  #pictureBehavior(api: BehaviorOptions): BehaviorOptions {
    return {
      ...api,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      cachePolicy: new CachePolicy(this, 'PictureCache', {
        cachePolicyName: this.#name('pictures'),
        comment: 'Images by URL',
        minTtl: Duration.seconds(0),
        defaultTtl: Duration.seconds(0),
        maxTtl: Duration.days(365),
        headerBehavior: CacheHeaderBehavior.allowList('Accept'),
        queryStringBehavior: CacheQueryStringBehavior.none(),
        cookieBehavior: CacheCookieBehavior.none(),
      }),
      // API Gateway adds this header only if the request has an Origin, which is not part of the cache key.
      responseHeadersPolicy: ResponseHeadersPolicy.CORS_ALLOW_ALL_ORIGINS,
      // Images are compressed, and text formats among them are rare.
      compress: false,
      functionAssociations: this.#onRequest('Pictures', {
        comment: 'Keeps the path and reduces the Accept header of images by URL',
        code: pictureFunctionCode(),
      }),
    };
  }

  /** Adds a function that runs before a request is forwarded. */
  #onRequest(id: string, { comment, code }: { comment: string; code: string }, name = id.toLowerCase()) {
    const edge = new EdgeFunction(this, id, {
      functionName: this.#name(name),
      comment,
      code: FunctionCode.fromInline(code),
      runtime: FunctionRuntime.JS_2_0,
    });
    return [{ function: edge, eventType: FunctionEventType.VIEWER_REQUEST }];
  }

  #originOf(bucket: IBucket): IOrigin {
    return S3BucketOrigin.withOriginAccessControl(bucket, {
      originAccessControl: new S3OriginAccessControl(this, 'Access', { originAccessControlName: this.#name('page') }),
      // Without the right to list, a missing file would be a 403.
      originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
    });
  }

  #pageBehaviors(origin: IOrigin, origins: OtherOrigins): Record<string, BehaviorOptions> {
    const behaviors = htmlFiles.map(({ name, paths, headers }) => {
      const word = name.replace(/\.html$/, '');
      const behavior: BehaviorOptions = {
        origin,
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        responseHeadersPolicy: new ResponseHeadersPolicy(this, `Headers-${word}`, {
          responseHeadersPolicyName: this.#name(word),
          comment: `Headers of ${name}`,
          ...headersBehaviors(headers(origins)),
        }),
      };
      return { paths, behavior };
    });
    const functionAssociations = this.#onRequest(
      'Paths',
      { comment: 'Maps the paths of the page to its documents', code: pageFunctionCode() },
      'page',
    );
    const [first] = behaviors;
    if (!first) throw new Error('The page has no document.');
    return Object.fromEntries([
      ...assetPaths.map((path) => [path, first.behavior] as const),
      ...behaviors.flatMap(({ paths, behavior }) =>
        paths.map((path) => [path, { ...behavior, functionAssociations }] as const),
      ),
    ]);
  }

  /** Returns a name that is unique across stages and regions: these resources are global. */
  #name(word: string): string {
    const { stackName, region } = Stack.of(this);
    return `${stackName}-${region}-${word}`;
  }

  /**
   * Uploads the build: first the assets, next to those of earlier builds, which open pages still load; then the
   * documents.
   */
  #deploy(bucket: Bucket): BucketDeployment {
    const build = new Asset(this, 'Build', pageAsset());
    const logGroup = expiringLogs(this, 'DeploymentLogs');
    const common = {
      sources: [Source.bucket(build.bucket, build.s3ObjectKey)],
      // Imported by name, it gets no tag from its deployments. A tagged bucket would keep its files when the stack is
      // deleted.
      destinationBucket: Bucket.fromBucketName(this, 'Destination', bucket.bucketName),
      retainOnDelete: false,
      outputObjectKeys: false,
      memoryLimit: 256,
      role: this.#deployer(bucket, build, logGroup),
      logGroup,
    };
    const deploy = (
      id: string,
      props: Pick<BucketDeploymentProps, 'cacheControl' | 'exclude' | 'include' | 'prune'>,
    ) => {
      const deployment = new BucketDeployment(this, id, { ...common, ...props });
      for (const each of deployment.node.findAll())
        if (CfnResource.isCfnResource(each) && each.cfnResourceType === 'Custom::CDKBucketDeployment')
          each.addMetadata(buildMetadata, 'web');
      return deployment;
    };
    const assets = deploy('Assets', {
      exclude: ['*'],
      include: ['assets/*'],
      prune: false,
      cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.days(365)), CacheControl.immutable()],
    });
    const documents = deploy('Documents', { exclude: ['assets/*'], cacheControl: [CacheControl.noCache()] });
    documents.node.addDependency(assets);
    // Both use the function of the first, with its layer.
    documents.node.tryRemoveChild('AwsCliLayer');
    return documents;
  }

  /** Returns a role that may only copy the build into the bucket, and delete it with the stack. */
  #deployer(bucket: Bucket, build: Asset, logs: ILogGroup): IRole {
    const statements = [
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logs.logGroupArn],
      }),
      // Not limited to this build: a role that changes with each build may not have propagated when it is used.
      new PolicyStatement({ actions: ['s3:GetObject'], resources: [build.bucket.arnForObjects('*')] }),
      new PolicyStatement({ actions: ['s3:ListBucket', 's3:GetBucketTagging'], resources: [bucket.bucketArn] }),
      new PolicyStatement({ actions: ['s3:PutObject', 's3:DeleteObject'], resources: [bucket.arnForObjects('*')] }),
    ];
    return new Role(this, 'Deployer', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: 'Copies the build of the page into its bucket',
      inlinePolicies: { Permissions: new PolicyDocument({ statements }) },
    }).withoutPolicyUpdates();
  }
}

/** Returns a bucket as its interface, which its class does not match under exact optional properties. */
function asInterface(bucket: Construct): IBucket {
  if (bucket instanceof BucketBase) return bucket;
  throw new Error(`Expected a bucket but received ${bucket.node.path}.`);
}
