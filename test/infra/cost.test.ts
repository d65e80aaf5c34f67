import { describe, expect, test } from 'vitest';
import type { AudioEncoder, VideoEncoder } from '../../functions/engines/media/formats.ts';
import type { Preset } from '../../functions/engines/media/presets.ts';
import { audioSeconds } from '../../functions/engines/media/speeds.ts';
import { choosePreset, estimate, type Load } from '../../functions/engines/media/time-limit.ts';
import { inventoryOf } from '../../infra/cost/inventory.ts';
import { measurements } from '../../infra/cost/measurements.ts';
import {
  connectionCosts,
  engineSeconds,
  environmentCost,
  idleCosts,
  jobCosts,
  pageCosts,
  total,
} from '../../infra/cost/model.ts';
import { readSynthesized } from '../support/template.ts';

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

  test('costs nothing more with a mapping that is off, and a dollar with a key', () => {
    const off = withResources({ Added: queue, Mapping: mapping({ Enabled: false }) });
    expect(total(idleCosts(off))).toBe(total(idleCosts(usual)));
    const key = withResources({ Key: { Type: 'AWS::KMS::Key' } });
    expect(total(idleCosts(key)) - total(idleCosts(usual))).toBeCloseTo(1, 5);
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
  test("cost more where accounts have environments of their own, by the price in Lambda's example", () => {
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
      if (job.engine === 'media') expect((costs.engine ?? 0) / total(costs)).toBeGreaterThan(0.9);
    },
  );

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
