import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Opinion } from './opinion.ts';
import { findCheckout, findPython, runPytest } from './pytest.ts';
import { startS3Door, type User } from './s3-door.ts';

const suite = {
  repository: 'ceph/s3-tests',
  commit: '8f0ae7b404a3a2fcf7038bf1e6bf29544fe9b6a3',
  variable: 'LATHE_S3_TESTS',
  folder: 's3tests',
};
const packages = ['boto3', 'httplib2', 'isodate', 'lxml', 'munch', 'pytest', 'pytz', 'PyYAML', 'requests'];
const bucketPrefix = 'lathe-';

/** S3 features that the service or its clients use. */
const subjects =
  'post_object or multipart or ranged or cors or ifmatch or ifnonematch or ifnonmatch or ifmodifiedsince or ifunmodifiedsince or if_match or if_none_match or checksum or cksum or object_copy or bad_md5 or content_length or object_head or object_write or object_read or object_metadata or object_raw or object_create or listv2 or multi_object_delete or presigned or atomic';
/** Exceptions: tests about several owners, or about features that the embedded S3 refuses. */
const exceptions =
  'acl or attributes or lock or multipart_copy or owner or policy or tenant or _v2 or versio or not_owned';
/** Further S3 features that the embedded S3 refuses, and tests whose authors know that they differ from S3. */
const others = [
  ...['appendobject', 'auth_aws2', 'bucket_encryption', 'bucket_logging', 'bucket_policy', 'cloud_restore'],
  ...['cloud_transition', 'delete_marker', 'encryption', 'fails_on_aws', 'fails_on_s3', 'iam_account', 'lifecycle'],
  ...['object_lock', 'object_ownership', 's3select', 'sse_s3', 'storage_class', 'tagging', 'versioning'],
];

/** Runs the relevant ones of Ceph's S3 tests against the embedded S3. */
export async function runS3Tests(only: string | undefined): Promise<Opinion> {
  const checkout = findCheckout(suite);
  if ('missing' in checkout) return checkout;
  const python = findPython(packages);
  if ('missing' in python) return python;
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'lathe-s3-tests-'));
  const folder = temporary.path;
  const users = ['main', 'alt', 'tenant', 'iam'].map(makeUser);
  await using door = await startS3Door({ dataDirectory: folder, users, bucketPrefix, onError: print });
  const settings = join(folder, 's3tests.conf');
  writeFileSync(settings, configuration(door.port, users));
  const outcomes = await runPytest(python.program, {
    suite: checkout.path,
    folder,
    plugins: ['s3_tests_plugin'],
    args: [
      ...[only === undefined ? '--tb=no' : '--tb=short', '-k', only ?? `(${subjects}) and not (${exceptions})`],
      ...['-m', others.map((name) => `not ${name}`).join(' and ')],
      ...['s3tests/functional/test_s3.py', 's3tests/functional/test_headers.py'],
    ],
    env: { S3TEST_CONF: settings, AWS_DEFAULT_REGION: 'us-east-1' },
  });
  return { outcomes, isPartial: only !== undefined };
}

function print(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}

function makeUser(name: string): User & { name: string } {
  return { name, accessKeyId: `AKIA${name.toUpperCase().padEnd(16, 'X')}`, secretAccessKey: name.padEnd(40, 's') };
}

function configuration(port: number, users: (User & { name: string })[]): string {
  const section = (title: string, user: User & { name: string }) =>
    `[${title}]
display_name = ${user.name}
user_id = ${user.name}
email = ${user.name}@example.com
access_key = ${user.accessKeyId}
secret_key = ${user.secretAccessKey}
tenant = ${user.name}
api_name = us-east-1
`;
  const [main, alt, tenant, iam] = users;
  if (!main || !alt || !tenant || !iam) throw new Error('Expected four users.');
  return `[DEFAULT]
host = 127.0.0.1
port = ${port}
is_secure = False
[fixtures]
bucket prefix = ${bucketPrefix}
${section('s3 main', main)}${section('s3 alt', alt)}${section('s3 tenant', tenant)}${section('iam', iam)}${section('iam root', iam)}${section('iam alt root', alt)}`;
}
