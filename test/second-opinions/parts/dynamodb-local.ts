import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { resolveArtifact } from './maven.ts';
import type { Part } from './server.ts';

// 3.3.1 needs parts of the AWS SDK that are missing from Maven Central.
const artifact = { group: 'software.amazon.dynamodb', name: 'DynamoDBLocal', version: '3.1.0' };

/** Amazon's DynamoDB local, in memory. */
export const dynamodbLocal: Part = {
  title: `DynamoDB Local ${artifact.version}`,
  replaces: 'DynamoDB',
  variable: 'LATHE_DYNAMODB_SERVER',
  prepare() {
    const resolved = resolveArtifact(artifact);
    if ('missing' in resolved) return resolved;
    if (spawnSync('javac', ['-version']).status !== 0)
      return { missing: 'there is a Java without a compiler, which the launcher needs' };
    const launcher = join(import.meta.dirname, 'OnLoopback.java');
    return {
      program: 'java',
      args: (port) => [
        ...['-cp', resolved.classPath, launcher],
        ...['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)],
      ],
      address: (port) => `http://127.0.0.1:${port}`,
    };
  },
};
