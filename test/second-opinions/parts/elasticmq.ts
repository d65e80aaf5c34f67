import { resolveArtifact } from './maven.ts';
import type { Part } from './server.ts';

const artifact = { group: 'org.elasticmq', name: 'elasticmq-server_2.13', version: '1.7.1' };

/** SoftwareMill's SQS, in memory, with the limits of SQS. */
export const elasticmq: Part = {
  title: `ElasticMQ ${artifact.version}`,
  replaces: 'SQS',
  variable: 'LATHE_SQS_SERVER',
  prepare() {
    const resolved = resolveArtifact(artifact);
    if ('missing' in resolved) return resolved;
    return {
      program: 'java',
      args: (port) => [
        ...['node-address.host=127.0.0.1', `node-address.port=${port}`, 'rest-sqs.bind-hostname=127.0.0.1'].map(define),
        ...[`rest-sqs.bind-port=${port}`, 'rest-sqs.sqs-limits=strict', 'rest-stats.enabled=false'].map(define),
        ...['-cp', resolved.classPath, 'org.elasticmq.server.Main'],
      ],
      address: (port) => `http://127.0.0.1:${port}`,
    };
  },
};

function define(property: string): string {
  return `-D${property}`;
}
