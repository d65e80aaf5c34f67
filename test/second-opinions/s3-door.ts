import { createSecretKey } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createGate } from '../../packages/local-aws/src/gate/gate.ts';
import { startServers } from '../../packages/local-aws/src/gate/servers.ts';
import type { Credentials } from '../../packages/local-aws/src/iam/credentials.ts';
import { createVerifier, type SignatureVerifier, unsignedPayload } from '../../packages/local-aws/src/iam/signature.ts';
import { parseXml, type XmlNode } from '../../packages/local-aws/src/s3/xml.ts';
import type { BucketCorsRule, LocalBucket, LocalRole } from '../../packages/local-aws/src/template/model.ts';
import { bareBucket } from '../transfers/own-bucket.ts';

const prefix = '/_aws/s3';
const accountId = '123456789012';
const maxBuckets = 2000;

export interface User {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface Door extends AsyncDisposable {
  port: number;
}

/**
 * Starts the embedded S3 at the root of a port, for clients that know nothing of the local stack: with users instead of
 * roles, and with buckets that can be created, made public and given CORS rules, which otherwise only the template
 * does. Buckets are named by the prefix and a number, and are created in advance.
 */
export async function startS3Door(options: {
  dataDirectory: string;
  users: User[];
  bucketPrefix: string;
  onError(error: unknown): void;
}): Promise<Door> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const origin = `http://127.0.0.1:${address.port}`;
  const buckets = Array.from({ length: maxBuckets }, (_, index): LocalBucket => {
    const name = `${options.bucketPrefix}${index + 1}`;
    return { ...bareBucket, logicalId: name, name, arn: `arn:aws:s3:::${name}`, cors: [] };
  });
  const stack = {
    account: accountId,
    region: 'us-east-1',
    ...{
      functions: [],
      assumableRoles: [],
      tables: [],
      queues: [],
      buckets,
      httpApis: [],
      webSocketApis: [],
      distributions: [],
    },
    ...{
      eventBuses: [],
      userPools: [],
      queueSources: [],
      schedules: [],
      alarms: [],
      jobQueues: [],
      jobDefinitions: [],
    },
  };
  const credentials = options.users.map((user): Credentials => ({ ...user, sessionToken: '', role: fullAccess }));
  const open = new Map<string, LocalBucket>();
  const publicPaths = new Set<string>();
  const servers = await startServers({ stack, dataDirectory: options.dataDirectory, origin });
  const gate = createGate({
    stack,
    credentials,
    verifier: rootVerifier(credentials, publicPaths, (path) => {
      const [, name = '', ...key] = path.split('/');
      // Callers that may list a bucket learn that an object is missing.
      return publicPaths.has(path) || (publicPaths.has(`/${name}`) && !servers.objects?.find(name, key.join('/')));
    }),
    servers,
    onError: options.onError,
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', origin);
    const [, name = '', key = ''] = url.pathname.split('/', 3);
    if (name === '') return respond(res, 200, '<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>');
    const request = key === '' ? `${req.method} bucket` : `${req.method} object`;
    if (request === 'PUT bucket' && url.search === '') {
      const bucket = buckets.find((each) => each.name === name);
      if (!bucket) return respondError(res, 501, 'NotImplemented');
      open.set(name, bucket);
      readAcl(req, url.pathname, publicPaths);
      return respond(res, 200);
    }
    const bucket = open.get(name);
    if (!bucket) return respondError(res, 404, 'NoSuchBucket');
    if (request === 'DELETE bucket' && url.search === '') {
      open.delete(name);
      return respond(res, 204);
    }
    if (url.searchParams.has('acl') && req.method === 'PUT') {
      readAcl(req, url.pathname, publicPaths);
      return respond(res, 200);
    }
    if (url.searchParams.has('cors') && key === '') return handleCors(req, res, bucket);
    req.url = `${prefix}${req.url}`;
    return gate.handle(req, res);
  }
  server.on('request', (req, res) => void handle(req, res).catch(options.onError));

  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await servers.close();
    },
  };
}

const fullAccess: LocalRole = {
  logicalId: 'Tester',
  arn: `arn:aws:iam::${accountId}:user/tester`,
  statements: [{ effect: 'Allow', actions: ['s3:*'], resources: ['arn:aws:s3:::*'], conditions: {} }],
};

/** Creates a verifier of signatures over paths without the prefix, which accepts unsigned calls on public paths. */
function rootVerifier(
  credentials: Credentials[],
  publicPaths: Set<string>,
  mayRead: (path: string) => boolean,
): SignatureVerifier {
  const verifier = createVerifier(credentials);
  const [anyone] = credentials;
  return {
    verify(service, req, path, query, bodyHash) {
      const bare = path.slice(prefix.length);
      const isUnsigned = req.headers.authorization === undefined && query.get('X-Amz-Algorithm') === undefined;
      if (!isUnsigned || !anyone || req.method !== 'GET' || !mayRead(bare)) {
        const verified = verifier.verify(service, req, bare, query, bodyHash);
        // The embedded S3 has no ACLs, and would refuse the header.
        if (req.method === 'PUT') readAcl(req, bare, publicPaths);
        return verified;
      }
      const signingKey = createSecretKey(Buffer.from('none'));
      return {
        credentials: anyone,
        payloadHash: unsignedPayload,
        presigned: false,
        ...{ signature: '', signingKey, scope: '', timestamp: '' },
      };
    },
    verifyText: verifier.verifyText,
  };
}

/** Removes the ACL from the headers of a request, and records whether it makes the path public. */
function readAcl({ headers }: IncomingMessage, path: string, publicPaths: Set<string>): void {
  if (String(headers['x-amz-acl'] ?? '').startsWith('public-read')) publicPaths.add(path);
  delete headers['x-amz-acl'];
}

async function handleCors(req: IncomingMessage, res: ServerResponse, bucket: LocalBucket): Promise<void> {
  if (req.method === 'DELETE') {
    bucket.cors = [];
    return respond(res, 204);
  }
  if (req.method === 'PUT') {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    bucket.cors = parseXml(Buffer.concat(chunks).toString())?.children.map(readRule) ?? [];
    return respond(res, 200);
  }
  if (bucket.cors.length === 0) return respondError(res, 404, 'NoSuchCORSConfiguration');
  const rules = bucket.cors.map(
    ({ allowedMethods, allowedOrigins }) =>
      `<CORSRule>${allowedMethods.map((each) => `<AllowedMethod>${each}</AllowedMethod>`).join('')}${allowedOrigins.map((each) => `<AllowedOrigin>${each}</AllowedOrigin>`).join('')}</CORSRule>`,
  );
  return respond(res, 200, `<CORSConfiguration>${rules.join('')}</CORSConfiguration>`);
}

function readRule(rule: XmlNode): BucketCorsRule {
  const texts = (name: string) => rule.children.filter((child) => child.name === name).map((child) => child.text);
  const [age] = texts('MaxAgeSeconds');
  return {
    allowedMethods: texts('AllowedMethod'),
    allowedOrigins: texts('AllowedOrigin'),
    allowedHeaders: texts('AllowedHeader'),
    exposedHeaders: texts('ExposeHeader'),
    maxAgeSeconds: age === undefined ? undefined : Number(age),
  };
}

function respond(res: ServerResponse, status: number, xml = ''): void {
  res.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
}

function respondError(res: ServerResponse, status: number, code: string): void {
  respond(res, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
