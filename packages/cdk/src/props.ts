import type { Environment } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** An engine, or the imports from and exports to stores. */
export type EngineName =
  | 'image'
  | 'media'
  | 'webpage'
  | 'document'
  | 'pdf'
  | 'markdown'
  | 'ebook'
  | 'mail'
  | 'archive'
  | 'transfer';

/** Sizes of an engine. Limits of inputs and estimates follow from them. */
export interface EngineSizes {
  /** Memory of the function, 128 to 10,240 MB. */
  readonly memoryMegabytes?: number;
  /** Disk of the function, 512 to 10,240 MB. */
  readonly diskMegabytes?: number;
  /** Timeout of the function, 30 to 900 seconds. */
  readonly timeoutSeconds?: number;
  /** Runs of more than two seconds that one account can have at a time, 1 to 1,000. */
  readonly maxConcurrency?: number;
  /** Maximum hours of a job on AWS Batch, up to 12. Defaults to 0, which deploys nothing of AWS Batch. */
  readonly batchHours?: number;
  /** Jobs at once. Defaults to 4. */
  readonly batchConcurrency?: number;
  /** vCPUs of a job: 1, 2, 4, 8 or 16. Defaults to 4. */
  readonly batchVcpus?: number;
  /** Memory of a job: 2 to 8 GB per vCPU. Defaults to 16,384 MB. */
  readonly batchMemoryMegabytes?: number;
  /** Disk of a job, 21 to 200 GB. Defaults to 200. */
  readonly batchDiskGigabytes?: number;
}

/** Settings of the functions. They are parameters of the template, so values must be known at synthesis. */
export interface SettingProps {
  /** How long files are kept. Defaults to 14,400 seconds. */
  readonly fileSeconds?: number;
  /** How long records are kept. Defaults to 86,400 seconds. */
  readonly recordSeconds?: number;
  /** How long an upload form is valid, at most an hour. Defaults to 3,600 seconds. */
  readonly uploadSeconds?: number;
  /** Maximum size of an imported file, up to 1 TB. Defaults to 5,000,000,000 bytes. */
  readonly maxFileBytes?: number;
  /** Requests that an account may make in a minute; 0 for no limit. Defaults to 3,000. */
  readonly ratePerMinute?: number;
  /** Conversion minutes that an account may use in a month; 0 for no limit. Defaults to 0. */
  readonly minutesPerMonth?: number;
  /** Jobs, and tasks without one, that an account may create in a minute; 0 for no limit. Defaults to 1,200. */
  readonly creationsPerMinute?: number;
  /** Waits of 25 seconds that are held for an account in a minute; 0 for no limit. Defaults to 60. */
  readonly waitsPerMinute?: number;
  /** Instant conversions that an account may have in progress at once. Defaults to 50. */
  readonly instantAtOnce?: number;
  /** Parts of split videos and documents that are processed at once; 0 to split none. Defaults to 100. */
  readonly splitAtOnce?: number;
  /** Engine time that a part of a split video or document should take. Defaults to 30 seconds. */
  readonly splitSeconds?: number;
  /** Private hosts that imports and webhooks may access, as `host` or `host:port`. Defaults to none. */
  readonly allowHosts?: readonly string[];
  /** Whether engines run with the available isolation, or only with complete isolation. Defaults to `available`. */
  readonly isolation?: 'available' | 'required';
  /** Whether all accounts trust each other, so that they share environments. Defaults to false. */
  readonly singleTenant?: boolean;
  /** Events that the event bus receives: ends of jobs, ends of jobs and tasks, or every event. Defaults to `jobs`. */
  readonly busEvents?: 'jobs' | 'tasks' | 'all';
  /** URL of the OpenID Connect issuer for sign-in. Defaults to a user pool of the stack. */
  readonly oidcIssuer?: string;
  /** Client id of the service at the issuer, as a public client with PKCE. */
  readonly oidcClientId?: string;
  /** Domains of the e-mail addresses that may sign in. Defaults to any. */
  readonly oidcEmailDomains?: readonly string[];
}

/** What a deployment consists of. */
export interface DeploymentProps {
  /** Name of a separate deployment: `prod` is the stack `Lathe-prod`. The stages `dev` and `test` keep no data. */
  readonly stage?: string;
  /** Keeps table, bucket and user pool when the stack is deleted. Defaults to true, in `dev` and `test` to false. */
  readonly keepData?: boolean;
  /** Limits for an account with the quotas of most accounts, or of a new one. Defaults to `usual`. */
  readonly preset?: 'usual' | 'small';
  /** Concurrency reserved for each of the two endpoints that wait; 0 reserves nothing. Defaults to 100. */
  readonly waitConcurrency?: number;
  /** Requests per second of all clients together, for each of the two APIs. Defaults to 500. */
  readonly throttleRate?: number;
  /** Requests above that rate that are accepted at once. Defaults to 1,000. */
  readonly throttleBurst?: number;
  /** Architecture of the engines. Defaults to `x86_64`. */
  readonly architecture?: 'x86_64' | 'arm64';
  /** Buckets of the account that imports and exports may use without keys. Every user of the API can reach them. */
  readonly openBuckets?: readonly string[];
  /** Log retention. Defaults to a month. */
  readonly logDays?: RetentionDays;
  /** Lets anybody join the user pool. Defaults to false. */
  readonly signUp?: boolean;
  /** Address that receives the alarms. AWS asks it to confirm first. */
  readonly alarmEmail?: string;
  /** Whether the page is deployed, with a distribution for it and the API. Defaults to true. */
  readonly page?: boolean;
  /** Host for page and API. */
  readonly domain?: string;
  /** Certificate for `domain`, in us-east-1. */
  readonly certificateArn?: string;
  /** Host for WebSockets. */
  readonly socketsDomain?: string;
  /** Certificate for `socketsDomain`, in the region of the stack. */
  readonly socketsCertificateArn?: string;
  /** Locations of CloudFront. Defaults to `100`. */
  readonly priceClass?: '100' | '200' | 'All';
  /** Web ACL for the distribution, in us-east-1. */
  readonly webAclArn?: string;
}

/** Properties of the construct. All are optional. */
export interface LatheProps extends SettingProps, DeploymentProps {
  /** Account and region of the stack. Defaults to those of the stack or stage around the construct. */
  readonly env?: Environment;
  /** Name of the stack, at most 40 characters. Defaults to `Lathe`, with a stage `Lathe-<stage>`. */
  readonly stackName?: string;
  /** Sizes of engines that differ from the defaults, such as `{ media: { memoryMegabytes: 6144 } }`. */
  readonly engines?: { readonly [engine in EngineName]?: EngineSizes };
}
