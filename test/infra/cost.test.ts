import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AudioEncoder, VideoEncoder } from '../../functions/engines/media/encoders.ts';
import type { Preset } from '../../functions/engines/media/presets.ts';
import { audioSeconds } from '../../functions/engines/media/speeds.ts';
import { choosePreset, estimate, type Load } from '../../functions/engines/media/time-limit.ts';
import { inventoryOf } from '../../infra/cost/inventory.ts';
import { measurements, type TypicalJob } from '../../infra/cost/measurements.ts';
import {
  connectionCosts,
  engineSeconds,
  environmentCost,
  idleCosts,
  jobCosts,
  metricCosts,
  pageCosts,
  total,
  waitsFor,
} from '../../infra/cost/model.ts';
import { metricsLine } from '../../shared/metrics.ts';
import { readSynthesized, resourcesOf } from '../support/template.ts';

const template = await readSynthesized();
const usual = inventoryOf(template);
const queue = { Type: 'AWS::SQS::Queue', Properties: {} };
const mapping = (properties: object = {}) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: { 'Fn::GetAtt': ['Added', 'Arn'] }, ...properties },
});
const withResources = (added: object) => inventoryOf({ Resources: { ...template.Resources, ...added } });

describe('a month without a job', () => {
  test('costs less than three dollars', () => {
    expect(total(idleCosts(usual))).toBeLessThan(3);
  });

  test('costs nothing for the distribution, whose requests cost less than a hundredth of a cent a job', () => {
    const without = Object.entries(template.Resources).filter(
      ([, { Type }]) => Type !== 'AWS::CloudFront::Distribution',
    );
    expect(without.length).toBe(Object.keys(template.Resources).length - 1);
    const direct = inventoryOf({ Resources: Object.fromEntries(without) });
    expect(total(idleCosts(direct))).toBe(total(idleCosts(usual)));
    expect(total(pageCosts(direct))).toBe(0);
    const [job] = measurements.jobs;
    if (!job) throw new Error('There is no typical job.');
    const added = total(jobCosts(usual, job)) - total(jobCosts(direct, job));
    expect(added).toBeGreaterThan(0.003);
    expect(added).toBeLessThan(0.1);
  });

  test('is billed for nothing by the hour', () => {
    expect(usual.hourly).toEqual([]);
  });

  test('costs a quarter of a dollar more with another queue that is polled', () => {
    const more = withResources({ Added: queue, Mapping: mapping() });
    expect(total(idleCosts(more)) - total(idleCosts(usual))).toBeCloseTo(0.26, 2);
  });

  test('costs nothing more with a disabled mapping, and a dollar with a key', () => {
    const off = withResources({ Added: queue, Mapping: mapping({ Enabled: false }) });
    expect(total(idleCosts(off))).toBe(total(idleCosts(usual)));
    const key = withResources({ Key: { Type: 'AWS::KMS::Key' } });
    expect(total(idleCosts(key)) - total(idleCosts(usual))).toBeCloseTo(1, 5);
  });

  test('costs a tenth of a cent for INIT of the sweep, and nothing for logs within the 5 GB that are free', () => {
    const { 'sweep: INIT': init, logs } = idleCosts(usual);
    // 1 % of 43,200 runs, 0.3 s of half a GB each.
    expect(init).toBeCloseTo(432 * 0.3 * 0.5 * 0.0000133334, 9);
    expect(logs).toBe(0);
  });

  test('costs 1.20 dollars more for metrics if seven engines have jobs in every hour, and five are free', () => {
    expect(metricCosts(5)).toEqual({ metrics: 10, dollars: 0 });
    expect(metricCosts(7).metrics).toBe(14);
    expect(metricCosts(7).dollars).toBeCloseTo(1.2, 9);
  });

  test('finds what is billed by the hour', () => {
    const hourly = withResources({
      Nat: { Type: 'AWS::EC2::NatGateway' },
      Added: queue,
      Mapping: mapping({ ProvisionedPollerConfig: { MinimumPollers: 2 } }),
    });
    expect(hourly.hourly).toEqual(['Nat', 'Mapping']);
  });
});

test('pings cost no more than a dollar for a month of forty idle connections', () => {
  const { 'connection minutes': minutes = 0, ...pings } = connectionCosts(usual);
  expect(minutes).toBeCloseTo(0.015, 5);
  expect(total(pings) * 0.72 * 40).toBeLessThan(1);
});

describe('a thousand jobs', () => {
  test("cost more if accounts have their own environments, by the price in Lambda's example", () => {
    const example = { memoryMegabytes: 1024, diskMegabytes: 512, architecture: 'x86_64', hasTenants: true } as const;
    expect(200_000 * environmentCost(example)).toBeCloseTo(33.4, 5);
    expect(environmentCost({ ...example, hasTenants: false })).toBe(0);
    for (const job of measurements.jobs) {
      const { 'new environments': apart = 0, ...others } = jobCosts(usual, job);
      expect(apart).toBeGreaterThan(0);
      expect(apart).toBeLessThan(total(others) / 4);
    }
  });

  test.for(measurements.jobs.map((job) => [job.name, job] as const))(
    '(%s) cost most for what works on them',
    ([, job]) => {
      const costs = jobCosts(usual, job);
      expect(total(costs)).toBeGreaterThan(0.03);
      if (job.engine !== 'media') return;
      const { waits = 0, ...others } = costs;
      expect((costs.engine ?? 0) / total(others)).toBeGreaterThan(0.9);
      // Four waits of 25 seconds in a function of 1 GB, or five.
      expect(waits / total(others)).toBeGreaterThan(0.08);
      expect(waits / total(others)).toBeLessThan(0.1);
    },
  );

  // One read for each request, and one after each pause: 10 of 40 ms until 0.4 s, 42 of a tenth until 21.9 s, then of 2
  // s.
  test.for([
    [0.1, { requests: 1, reads: 1 + 3 }],
    [25, { requests: 1, reads: 1 + 10 + 42 + 2 }],
    [25.1, { requests: 2, reads: 2 + 10 + 42 + 2 }],
    [100, { requests: 4, reads: 4 + 10 + 42 + 40 }],
  ] as const)('are waited for by requests of up to 25 seconds: %s s', ([seconds, expected]) => {
    expect(waitsFor(seconds)).toEqual(expected);
  });

  test('cost for waits, INIT, metrics and access logs what their prices come to', () => {
    // 100 seconds of transfer, so 6 requests.
    const sizes = { cpuSeconds: 0, cores: 1, inputBytes: 8e9, outputBytes: 0 };
    const job: TypicalJob = { name: 'slow', engine: 'media', ...sizes };
    const costs = jobCosts(usual, job);
    // 100 s and 4 times 60 ms of 1 GB, 4 invocations, 96 reads.
    expect(costs.waits).toBeCloseTo(1000 * (100.24 * 0.0000133334 + 4 * 0.2e-6 + 96 * 0.125e-6), 6);
    // 2 % of engines, a second of 8,845 MB with 9.5 GB of disk; 1 % of two functions of half a GB and six of one, 0.3 s each.
    const engine = 0.02 * ((8845 / 1024) * 0.0000166667 + 9.5 * 0.0000000309);
    expect(costs.INIT).toBeCloseTo(1000 * (engine + 0.01 * 0.3 * (2 * 0.5 + 6) * 0.0000133334), 9);
    expect(costs['access logs']).toBeCloseTo((1000 * 6 * 220 * 0.5) / 1e9, 9);
    // Two metrics for ten hours of 720, or for a thousandth of one.
    const line = (1000 * 580 * 0.5) / 1e9;
    expect(costs['custom metrics']).toBeCloseTo((2 * 0.3 * 10) / 720 + line, 9);
    expect(jobCosts(usual, job, 1e6)['custom metrics']).toBeCloseTo((2 * 0.3 * 0.001) / 720 + line, 9);
  });

  test('cost nothing for access logs of an API that has none', () => {
    const resources = Object.entries(template.Resources).map(([id, { Properties, ...resource }]) => {
      const { AccessLogSettings: _, ...properties } = Properties ?? {};
      return [id, { ...resource, Properties: properties }];
    });
    const [job] = measurements.jobs;
    if (!job) throw new Error('There is no typical job.');
    expect(jobCosts(inventoryOf({ Resources: Object.fromEntries(resources) }), job)['access logs']).toBe(0);
  });

  test('write lines of about the size that they are priced by', () => {
    const id = 'x'.repeat(26);
    const run = {
      message: 'the run ended',
      outcome: 'completed',
      attempt: 1,
      jobId: id,
      taskId: id,
      invocationId: randomUUID(),
    };
    const line = metricsLine({ TaskSeconds: 1.234, QueueSeconds: 0.123 }, { engine: 'document' }, run, Date.now());
    expect(Math.abs(JSON.stringify(line).length / measurements.metricsLineBytes - 1)).toBeLessThan(0.1);
    const values: Record<string, string> = {
      requestTime: '17/Nov/2026:19:04:13 +0000',
      requestId: 'Ab1cDe2FgHij3kl=',
      'identity.sourceIp': '203.0.113.195',
      routeKey: 'GET /v1/process/jobs/{jobId}/wait',
      status: '200',
      responseLength: '1532',
      responseLatency: '24718',
    };
    const [stage] = resourcesOf(template, 'AWS::ApiGatewayV2::Stage').filter(
      ({ Properties }) => Properties.AccessLogSettings,
    );
    const { Format } = (stage?.Properties.AccessLogSettings ?? {}) as { Format?: string };
    const request = String(Format).replace(/\$context\.([\w.]+)/g, (_, name: string) => values[name] ?? '-');
    expect(Math.abs(request.length / measurements.accessLogBytes - 1)).toBeLessThan(0.1);
  });

  test.for(measurements.jobs.filter(({ engine }) => engine === 'media').map((job) => [job.name, job] as const))(
    '(%s) cost less than twenty dollars',
    ([, job]) => {
      expect(total(jobCosts(usual, job))).toBeLessThan(20);
    },
  );

  const videos: [name: string, video: VideoEncoder, audio: AudioEncoder, preset: Preset][] = [
    ['5 minutes of 1080p to mp4', 'libx264', 'aac', 'veryfast'],
    ['5 minutes of 1080p to webm', 'libvpx-vp9', 'libopus', 'veryfast'],
  ];

  test.for(videos)(
    '(%s) take no longer than the engine estimates, and not much less than half as long',
    ([name, writer, audio, preset]) => {
      const [width, height, seconds, frames] = [1920, 1080, 300, 9000];
      const load: Load = {
        seconds,
        pictures: { writer, width, height, frames, bitsPerPixel: (8e6 * seconds) / (width * height * frames) },
        megapixelsRead: (width * height * frames) / 1e6,
        oneCoreSeconds: audioSeconds(audio, seconds),
      };
      const media = usual.engines.get('media');
      const job = measurements.jobs.find((each) => each.name === name);
      if (!media || !job) throw new Error(`Expected the engine media and the job ${name}.`);
      const cores = media.memoryMegabytes / 1769;
      const chosen = choosePreset(load, undefined, { cores, max: 900, usual: 450 }, { writers: [], hasOptions: true });
      expect(chosen).toBe(preset);
      const transferred = (job.inputBytes + job.outputBytes) / measurements.bytesPerSecond;
      const ratio = (engineSeconds(media, job) - transferred) / estimate(load, preset, cores);
      expect(ratio).toBeGreaterThan(0.4);
      expect(ratio).toBeLessThan(1);
    },
  );
});
