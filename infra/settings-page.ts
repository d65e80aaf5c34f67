import { engineCatalogues } from '../functions/catalogue/catalogues.ts';
import type { EngineResources } from '../shared/catalogue/catalogue.ts';
import { mayRunOnBatch, type SizeName, sizeRanges, sizesOf } from '../shared/catalogue/sizes.ts';
import { settings } from './settings.ts';

type Row = readonly [name: string, defaultValue: string, meaning: string];
type SettingName = keyof typeof settings;

/** What the page says in addition to the meaning of a setting. */
const notes: Partial<Record<SettingName, string>> = {
  uploadSeconds:
    'At most an hour, the longest session of the role that signs it; its policy may state up to a minute less.',
  sweepSeconds: 'In AWS the sweep runs every minute.',
  minutesPerMonth: '`npm run key -- --allow <minutes> --user <id>` overrides it for one account.',
  allowHosts: '`host` or `host:port`, comma-separated.',
  isolation: '`/health` lists which barriers are in effect for each engine.',
  singleTenant: 'See [deploy.md](deploy.md#one-account-per-environment).',
  oidcIssuer: 'See [deploy.md](deploy.md#sign-in-for-people).',
};

/** Settings that the local stack reads as variables and that have no context value. */
const localOnly: SettingName[] = ['sweepSeconds'];

/** Set by the local stack and not by a person. */
const internal: SettingName[] = ['missing'];

/** Context values that shape a deployment and are no settings of the functions. */
export const deploymentContext: readonly Row[] = [
  ['stage', 'none', 'Name of a separate deployment: `-c stage=prod` is the stack `Lathe-prod`.'],
  ['region', 'region of the credentials', 'Region to deploy to.'],
  [
    'keepData',
    '`true`; `false` in the stages `dev` and `test`',
    'Keeps table, bucket and user pool when the stack is deleted, and protects the table and the stack from deletion.',
  ],
  [
    'preset',
    '`usual`',
    '`small` is for new accounts: at most 3,008 MB per function, one queue with two workers for all engines, no reserved concurrency, and waits that respond at once.',
  ],
  [
    'waitConcurrency',
    '100',
    'Concurrency reserved for each of the two `/wait` endpoints, which is also its limit: further requests get a 503. 0 reserves nothing.',
  ],
  ['throttleRate', '500', 'Requests per second of all clients together, for each of the two APIs. More get a 429.'],
  ['throttleBurst', '1000', 'Requests above that rate that are accepted at once.'],
  ['architecture', '`x86_64`', '`arm64` builds the engines for Graviton.'],
  [
    'openBuckets',
    'none',
    'Buckets of the account, comma-separated, that imports and exports may use without keys. Every user of the API can then reach them.',
  ],
  ['logDays', '30', 'Log retention in days: 1, 3, 5, 7, 14, 30, 60, 90, …'],
  ['signUp', '`false`', '`true` lets anybody join the user pool. Otherwise an administrator adds people.'],
  ['alarmEmail', 'none', 'Address that receives the alarms. AWS asks it to confirm first.'],
  ['page', '`true`', '`false` deploys the API without page and distribution.'],
  ['domain', 'none', 'Host for page and API. Point its CNAME at the output `PageHostTarget…`.'],
  ['certificateArn', 'none', 'Certificate for `domain`, in us-east-1.'],
  ['socketsDomain', 'none', 'Host for WebSockets. Point its CNAME at the output `SocketsHostTarget`.'],
  [
    'socketsCertificateArn',
    'none',
    'Certificate for `socketsDomain`, in the region of the stack. Optional with `region=us-east-1` if `certificateArn` covers both hosts.',
  ],
  [
    'webpagePackaging',
    '`image`',
    '`zip` runs the web page engine as a zip on layers, on `x86_64` only and [without a sandbox](security.md#which-barriers-can-stand).',
  ],
  ['priceClass', '`100`', 'Locations of CloudFront: `100`, `200` or `All`.'],
  ['webAclArn', 'none', 'A WAF web ACL in us-east-1 for the distribution.'],
];

/** Variables that `npm start` alone reads. */
const localVariables: readonly Row[] = [
  ['PORT', '3000', 'Port of the local service.'],
  ['LATHE_API_KEY', 'created on first start', 'The development key.'],
  ['LATHE_DATA', '`.lathe`', 'Folder of the local state.'],
  ['LATHE_LISTEN', 'loopback addresses', 'Address to listen on; `0.0.0.0` in the [container](container.md).'],
  [
    'LATHE_URL',
    '`http://localhost:<port>`',
    'Root URL for clients behind a [reverse proxy](container.md#behind-a-reverse-proxy), which keeps the `Host` header. The development user cannot sign in then.',
  ],
];

const sizeMeanings: Record<SizeName, string> = {
  memoryMegabytes: 'memory, MB',
  diskMegabytes: 'disk, MB',
  timeoutSeconds: 'timeout, s',
  maxConcurrency: 'concurrency',
  batchHours: 'hours on AWS Batch',
  batchConcurrency: 'jobs at once',
  batchVcpus: 'vCPUs of a job',
  batchMemoryMegabytes: 'memory of a job, MB',
  batchDiskGigabytes: 'disk of a job, GB',
};

/** Returns the text of docs/settings.md. */
export function settingsPage(): string {
  return `<!-- Generated from shared/settings.ts, infra/settings.ts, infra/settings-page.ts and the catalogues of the engines.
     Run \`npx vitest run test/unit/infra/docs.test.ts -u\` after a change. -->

# Settings

## In AWS and locally

Set the environment variable for \`npm start\`, or the CDK context value for a deployment (\`-c fileSeconds=7200\`). Context values are not remembered between deployments: see [deploy.md](deploy.md#deploy).

${table(['variable', 'context value', 'default', 'meaning'], settingRows())}

## In AWS only

Context values of a deployment.

${table(['context value', 'default', 'meaning'], deploymentContext.map(coded))}

## Locally only

${table(['variable', 'default', 'meaning'], localVariables.map(coded))}

Variables for tests and for other servers behind the local AWS are in [local.md](local.md).

## Sizes of engines

\`-c <engine>.<size>=<number>\` changes a size, such as \`-c media.memoryMegabytes=6144\`. The limits of inputs and the estimates for video follow from it.

${table(
  ['engine', ...sizes().map((size) => `\`${size}\`<br>${sizeMeanings[size]}`)],
  engineCatalogues.map(({ engine, resources }) => [engine, ...sizes().map((size) => sizeShown(resources, size))]),
)}

${sizes()
  .map((size) => `\`${size}\` takes ${sizeRanges[size].min} to ${sizeRanges[size].max}.`)
  .join(' ')} The catalogues give the reasons for the defaults.

\`maxConcurrency\` is the number of runs of more than two seconds that one account can have at a time. An engine has a tenth more workers, at least one, so that other accounts get their turn within seconds. Each conversion takes two invocations of the account's concurrency, because the worker waits for its engine.

\`batchHours\` switches [AWS Batch](architecture.md#long-work-that-cannot-be-split) on for an engine: work that cannot be split and does not fit into one function then runs there, for that many hours at most. It has to end before the files of its task are deleted, so raise \`fileSeconds\` with it. \`batchVcpus\` is 1, 2, 4, 8 or 16, and Fargate takes 2 to 8 GB of memory per vCPU. See [deploy.md](deploy.md#work-of-hours).

## Not configurable

Files are not versioned, because versions would outlive the retention. Table and bucket are encrypted with AWS managed KMS keys: they hold the signing secrets of webhooks and, while a task runs, credentials of stores and passwords of files. Queues and bucket refuse requests without TLS.
`;
}

function settingRows(): string[][] {
  const names = Object.keys(settings).filter(isSettingName);
  return names
    .filter((name) => !internal.includes(name))
    .map((name) => {
      const { variable, defaultValue, meaning } = settings[name];
      const text = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
      return [
        `\`${variable}\``,
        localOnly.includes(name) ? '' : `\`${name}\``,
        defaultValue === '' ? 'none' : `\`${defaultValue}\``,
        notes[name] ? `${text} ${notes[name]}` : text,
      ];
    });
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

function sizes(): SizeName[] {
  return Object.keys(sizeMeanings).filter((name): name is SizeName => Object.hasOwn(sizeRanges, name));
}

/** Only engines in images that use no network run on AWS Batch. */
function sizeShown(resources: EngineResources, size: SizeName): string {
  return size.startsWith('batch') && !mayRunOnBatch(resources) ? '' : String(sizesOf(resources)[size]);
}

function coded([name, ...rest]: Row): string[] {
  return [`\`${name}\``, ...rest];
}

function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}
