import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { encodeMissing } from '../../shared/catalogue/missing.ts';
import { type Bundle, bundle, byPackage, writeBundle } from '../support/bundle.ts';
import { compileCache } from '../support/compile-cache.ts';
import { readSynthesized, resourcesOf } from '../support/template.ts';

const kilobyte = 1000;
const maxRecordsOnly = 480 * kilobyte;
const maxBytes = 820 * kilobyte;

/** Code that only engines may contain. */
const engineCode = [
  /node_modules\/(?:sharp|@img|@imagemagick|puppeteer-core|@puppeteer|@sparticuz|ffmpeg-static|@cantoo|pdf-lib)\//,
  /^functions\/(?:worker\/worker|engines\/runtime\/(?:engine-handler|program))\.ts$/,
  /^functions\/engines\/runtime\/sandbox\//,
  /^functions\/(?:engines\/[^/]+|transfers)\/(?:run|handler)\.ts$/,
];

/** Credential providers that a function does not need: its credentials are in its environment. */
const credentialCode =
  /node_modules\/(?:@aws-sdk\/(?:nested-clients|token-providers|credential-provider-[a-z-]+|client-(?:sso|sts)[a-z-]*)|@smithy\/credential-provider-imds)\//;

const template = await readSynthesized();
const zips = resourcesOf(template, 'AWS::Lambda::Function')
  // Functions of deployments belong to the CDK.
  .filter(
    ({ Properties, Metadata }) => Properties.PackageType !== 'Image' && Metadata?.['local-aws:entry'] !== undefined,
  )
  .map(({ Properties, Metadata }) => {
    const entry = String(Metadata?.['local-aws:entry']);
    const environment = JSON.stringify(Properties.Environment ?? {});
    // The agents' tools call the API itself.
    const recordsOnly = !environment.includes('LATHE_BUCKET') && !entry.startsWith('functions/api/mcp/');
    return { entry, recordsOnly, signs: environment.includes('LATHE_SIGNING_ROLE') };
  });

const unique = [...new Map(zips.map((zip) => [zip.entry, zip])).values()];
/** Modules of functions that assume a role, in any of their rows. */
const signing = new Set(zips.filter(({ signs }) => signs).map(({ entry }) => entry));
const slender = unique.filter(({ entry }) => !/^functions\/(?:engines|transfers|worker)\//.test(entry));

let bundles: Map<string, Bundle>;

beforeAll(async () => {
  bundles = await bundle(unique.map(({ entry }) => entry));
});

describe('the bundle of every function that a client waits for', () => {
  test.for(slender.map(({ entry, recordsOnly }) => [entry, recordsOnly] as const))(
    '(%s) is small enough to start fast, with the SDK inside',
    ([entry, recordsOnly]) => {
      const made = bundles.get(entry);
      const heaviest = made && byPackage(made).slice(0, 8);
      expect(made?.bytesAtStart, `Heaviest: ${JSON.stringify(heaviest)}`).toBeLessThan(
        recordsOnly ? maxRecordsOnly : maxBytes,
      );
    },
  );

  test.for(slender.map(({ entry }) => [entry] as const))('(%s) holds no code of engines', ([entry]) => {
    const { parts = [] } = bundles.get(entry) ?? {};
    expect(parts.length).toBeGreaterThan(0);
    const strangers = parts.filter(({ path }) => engineCode.some((code) => code.test(path)));
    expect(strangers).toEqual([]);
  });
});

describe('the bundle of every zip function', () => {
  test.for(unique.map(({ entry }) => [entry] as const))(
    '(%s) holds no SSO client, no STS client unless it assumes a role, and no client twice',
    ([entry]) => {
      const paths = (bundles.get(entry)?.parts ?? []).map(({ path }) => path);
      expect(paths.length).toBeGreaterThan(0);
      const isAllowed = (path: string) => signing.has(entry) && path.includes('node_modules/@aws-sdk/client-sts/');
      expect(paths.filter((path) => credentialCode.test(path) && !isAllowed(path))).toEqual([]);
      const clients = new Set(
        paths.flatMap((path) => /^.*node_modules\/@aws-sdk\/client-[a-z0-9-]+/.exec(path)?.[0] ?? []),
      );
      expect([...clients].filter((client) => client.lastIndexOf('node_modules') > 0)).toEqual([]);
    },
  );
});

test('a bundle holds the catalogue of every engine as data', () => {
  const names = bundles.get('functions/api/jobs/create-job.ts')?.files.map(({ name }) => name) ?? [];
  const engines = new Set(names.flatMap((name) => /^([a-z-]+)-capabilities-\w+\.json$/.exec(name)?.[1] ?? []));
  expect([...engines].toSorted()).toEqual(engineCatalogues.map(({ engine }) => engine).toSorted());
});

test('the bundled document of the API is that of the source, with and without missing components', async () => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bundle-'));
  const folder = temporary.path;
  await writeBundle(bundles.get('functions/api/service/openapi.ts'), folder);
  await writeFile(
    join(folder, 'call.mjs'),
    `import { handler } from './index.mjs';
     const event = { headers: {}, requestContext: { requestId: 'r', http: { method: 'GET' } } };
     const { body } = await handler(event, { getRemainingTimeInMillis: () => 1000 });
     process.stdout.write('\\n' + body);`,
  );
  const source = `import { openapiDocument } from ${JSON.stringify(join(projectRoot, 'functions/api/service/openapi-document.ts'))};
    process.stdout.write('\\n' + JSON.stringify(openapiDocument()));`;
  await writeFile(join(folder, 'source.mjs'), source);
  const missing = encodeMissing({ engines: { media: { ffmpeg: '' } } });
  for (const extra of [{}, { LATHE_MISSING: missing }]) {
    const env = { ...compileCache, LATHE_URL: 'https://api.example.com', ...extra };
    const [bundled, built] = await Promise.all(
      ['call.mjs', 'source.mjs'].map(async (name) => {
        const { stdout } = await promisify(execFile)(process.execPath, [join(folder, name)], { env, maxBuffer: 1e8 });
        return stdout.split('\n').findLast((line) => line.startsWith('{"openapi"'));
      }),
    );
    expect(JSON.parse(bundled ?? '')).toEqual(JSON.parse(built ?? ''));
  }
});

test('a bundle handles an event in a process of its own, with the credentials of its environment', async () => {
  const event = {
    version: '2.0',
    headers: { accept: 'application/json' },
    requestContext: { requestId: 'r', http: { method: 'GET', path: '/health' } },
    isBase64Encoded: false,
  };
  // Outside the project, so that packages missing from the bundle are not found.
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bundle-'));
  const folder = temporary.path;
  // An empty table.
  const signed: unknown[] = [];
  const table = createServer(({ headers }, res) => {
    signed.push([headers.authorization?.split('/')[0], headers['x-amz-security-token']]);
    res.end('{"Responses":{},"UnprocessedKeys":{}}');
  });
  await once(table.listen(0, '127.0.0.1'), 'listening');
  try {
    const entry = 'functions/api/service/health.ts';
    const made = (await bundle([entry])).get(entry);
    await writeBundle(made, folder);
    await writeFile(
      join(folder, 'call.mjs'),
      `import { handler } from './index.mjs';
       const result = await handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 1000 });
       process.stdout.write('\\n' + JSON.stringify(result));`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'call.mjs')], {
      env: {
        LATHE_VERSION: '9.9.9',
        LATHE_WEBSOCKET_URL: 'wss://abc.execute-api.us-east-1.amazonaws.com/live',
        LATHE_TABLE: 'table',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_SESSION_TOKEN: 'token',
        AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(table.address() as AddressInfo).port}`,
      },
    });
    const result = JSON.parse(stdout.split('\n').at(-1) ?? '');
    expect(result.statusCode).toBe(200);
    expect(signed).toEqual([['AWS4-HMAC-SHA256 Credential=key', 'token']]);
    expect(JSON.parse(result.body)).toMatchObject({
      status: 'ok',
      version: '9.9.9',
      websocket: {
        url: 'wss://abc.execute-api.us-east-1.amazonaws.com/live',
        socketIo: { url: 'wss://abc.execute-api.us-east-1.amazonaws.com', path: '/live' },
      },
    });
  } finally {
    table.close();
  }
});
