import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BatchGetItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, expect, it, vi } from 'vitest';
import { everything, makeDirectory, nothing, startLocalAws } from './fixture.ts';

afterEach(() => vi.unstubAllEnvs());

it('records each kind of decision once, without the parts that differ from call to call', async () => {
  const folder = await makeDirectory();
  vi.stubEnv('LATHE_GATE_RECORD', folder);
  await using aws = await startLocalAws();
  const { name: TableName = '' } = aws.stack.tables[0] ?? {};
  const { name: Bucket = '' } = aws.stack.buckets[0] ?? {};
  const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'x' } });
  const get = (pk: string, by = everything) => aws.dynamodb(by).send(new GetItemCommand({ TableName, Key: key(pk) }));

  await get('task#1');
  await get('task#2');
  await get('job#1');
  const Keys = ['job#1', 'task#1', 'task#2'].map(key);
  await aws.dynamodb().send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }));
  await expect(get('task#1', nothing)).rejects.toThrow();
  await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'files/1/2', Body: 'x' }));
  await aws.s3().send(new GetObjectCommand({ Bucket, Key: 'files/1/2' }));
  await aws.s3().send(new ListObjectsV2Command({ Bucket, Prefix: 'files/1/' }));

  const files = await readdir(folder);
  const [file = '', ...others] = files.filter((name) => name.endsWith('.jsonl'));
  const lines = (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n');
  expect(others).toEqual([]);
  const [first] = lines.map((line) => JSON.parse(line));
  expect(JSON.parse(await readFile(join(folder, `${first.policies}.json`), 'utf8'))).toEqual({
    caller: { type: 'role', arn: everything.arn, account: aws.stack.account },
    identity: everything.statements,
    resource: [],
  });
  const short = lines
    .map((line) => JSON.parse(line))
    .map(({ role, action, resource, conditions, isAllowed }) => {
      const values = Object.values(conditions).flat().join(' ');
      return [role, action, resource.replace(/^.*:/, ''), values, isAllowed].join(' | ');
    });
  expect(short).toEqual([
    `${everything.logicalId} | dynamodb:GetItem | table/${TableName} | task#… | true`,
    `${everything.logicalId} | dynamodb:GetItem | table/${TableName} | job#… | true`,
    `${everything.logicalId} | dynamodb:BatchGetItem | table/${TableName} | job#… task#… | true`,
    `${nothing.logicalId} | dynamodb:GetItem | table/${TableName} | task#… | false`,
    `${everything.logicalId} | s3:PutObject | ${Bucket}/files/… |  | true`,
    `${everything.logicalId} | s3:GetObject | ${Bucket}/files/… |  | true`,
    `${everything.logicalId} | s3:ListBucket | ${Bucket} | files/… | true`,
  ]);
  await rm(folder, { recursive: true });
});

it('records whether S3 may notify a queue', async () => {
  const folder = await makeDirectory();
  vi.stubEnv('LATHE_GATE_RECORD', folder);
  await using aws = await startLocalAws();
  const [{ name: Bucket = '', arn = '' } = {}] = aws.stack.buckets;

  await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'uploads/1', Body: 'x' }));

  const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const lines = (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    role: 's3.amazonaws.com',
    action: 'sqs:SendMessage',
    conditions: { 'aws:sourcearn': [arn] },
    isAllowed: true,
  });
  await rm(folder, { recursive: true });
});
