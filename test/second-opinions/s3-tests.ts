import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';
import type { Opinion } from './opinion.ts';
import { startS3Door, type User } from './s3-door.ts';

const commit = '8f0ae7b';
const cache = join(projectRoot, 'node_modules/.cache/second-opinions');
const bucketPrefix = 'lathe-';

/** What the service uses of S3, or what its clients meet. */
const subjects =
  'post_object or multipart or ranged or cors or ifmatch or ifnonematch or ifnonmatch or ifmodifiedsince or ifunmodifiedsince or if_match or if_none_match or checksum or cksum or object_copy or bad_md5 or content_length or object_head or object_write or object_read or object_metadata or object_raw or object_create or listv2 or multi_object_delete or presigned or atomic';
/** What of that is about more than one owner, or about what the embedded S3 does not have and says so. */
const exceptions =
  'acl or attributes or lock or multipart_copy or owner or policy or tenant or _v2 or versio or not_owned';
/** Further parts of S3 that the embedded one does not have and says so, and what its authors know to differ from S3. */
const others = [
  ...['appendobject', 'auth_aws2', 'bucket_encryption', 'bucket_logging', 'bucket_policy', 'cloud_restore'],
  ...['cloud_transition', 'delete_marker', 'encryption', 'fails_on_aws', 'fails_on_s3', 'iam_account', 'lifecycle'],
  ...['object_lock', 'object_ownership', 's3select', 'sse_s3', 'storage_class', 'tagging', 'versioning'],
];

/** Runs those of Ceph's tests of S3 that concern the service against the embedded S3. */
export async function runS3Tests(only: string | undefined): Promise<Opinion> {
  const checkout = findCheckout();
  if ('missing' in checkout) return checkout;
  const python = findPython(checkout.path);
  if ('missing' in python) return python;
  const folder = mkdtempSync(join(tmpdir(), 'lathe-s3-tests-'));
  try {
    const users = ['main', 'alt', 'tenant', 'iam'].map(makeUser);
    await using door = await startS3Door({ dataDirectory: folder, users, bucketPrefix, onError: print });
    const settings = join(folder, 's3tests.conf');
    writeFileSync(settings, configuration(door.port, users));
    const report = join(folder, 'report.txt');
    const child = spawn(
      python.program,
      [
        ...[
          '-m',
          'pytest',
          '-q',
          '-p',
          'no:cacheprovider',
          '-p',
          's3_tests_plugin',
          `--tb=${only === undefined ? 'no' : 'line'}`,
        ],
        ...[
          '-k',
          only ?? `(${subjects}) and not (${exceptions})`,
          '-m',
          others.map((name) => `not ${name}`).join(' and '),
        ],
        ...['s3tests/functional/test_s3.py', 's3tests/functional/test_headers.py'],
      ],
      {
        cwd: checkout.path,
        stdio: 'inherit',
        env: {
          ...process.env,
          PYTHONPATH: `${checkout.path}:${join(projectRoot, 'test/second-opinions')}`,
          PYTHONDONTWRITEBYTECODE: '1',
          S3TEST_CONF: settings,
          S3TEST_REPORT: report,
          AWS_DEFAULT_REGION: 'us-east-1',
        },
      },
    );
    await once(child, 'exit');
    if (!existsSync(report)) throw new Error('pytest wrote no report.');
    return { outcomes: readReport(readFileSync(report, 'utf8')), isPartial: only !== undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}

function findCheckout(): { path: string } | { missing: string } {
  const given = process.env.LATHE_S3_TESTS;
  if (given !== undefined)
    return existsSync(join(given, 's3tests')) ? { path: given } : { missing: `${given} is no checkout of s3-tests` };
  const path = join(cache, `s3-tests-${commit}`);
  if (existsSync(path)) return { path };
  const cloned = spawnSync('git', ['clone', '--quiet', 'https://github.com/ceph/s3-tests', path], { encoding: 'utf8' });
  if (cloned.status !== 0)
    return { missing: `git could not clone github.com/ceph/s3-tests; name a checkout by LATHE_S3_TESTS` };
  const found = spawnSync('git', ['-C', path, 'checkout', '--quiet', commit], { encoding: 'utf8' });
  return found.status === 0 ? { path } : { missing: `github.com/ceph/s3-tests has no commit ${commit}` };
}

function findPython(checkout: string): { program: string } | { missing: string } {
  const environment = join(cache, 's3-tests-python');
  const program = join(environment, 'bin/python');
  const isComplete = () =>
    spawnSync(program, ['-c', 'import boto3, pytest, requests, munch, isodate, lxml']).status === 0;
  if (existsSync(program) && isComplete()) return { program };
  if (spawnSync('python3', ['-m', 'venv', environment]).status !== 0)
    return { missing: 'python3 cannot make a virtual environment' };
  spawnSync(program, ['-m', 'pip', 'install', '--quiet', '-r', join(checkout, 'requirements.txt'), 'pytest']);
  return isComplete() ? { program } : { missing: 'pip could not install the packages of s3-tests from PyPI' };
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

/** Reads which tests passed from the lines that the plugin wrote, one for each phase of a test. */
function readReport(text: string): Map<string, boolean> {
  const outcomes = new Map<string, boolean>();
  for (const line of text.split('\n')) {
    const [name, outcome] = line.split(' ');
    if (name && outcome && outcome !== 'skipped')
      outcomes.set(name, outcome === 'passed' && (outcomes.get(name) ?? true));
  }
  return outcomes;
}
