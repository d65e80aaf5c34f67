import { RootConstruct } from 'constructs';
import { describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { readDeployment } from '../../../infra/deployment.ts';
import { chosenSizes, queueConcurrency, waitConcurrency } from '../../../infra/sizes.ts';
import { decodeSizes, encodeSizes, withSizes } from '../../../shared/catalogue/sizes.ts';

function scopeWith(context: Record<string, unknown> = {}): RootConstruct {
  const root = new RootConstruct();
  for (const [key, value] of Object.entries(context)) root.node.setContext(key, value);
  return root;
}

const sizesWith = (context: Record<string, unknown>) => chosenSizes(scopeWith(context), engineCatalogues);

describe('sizes of engines', () => {
  test('are those of the catalogues by default', () => {
    expect(sizesWith({})).toEqual({});
    expect(waitConcurrency(scopeWith())).toBe(100);
    expect(queueConcurrency(scopeWith(), 50)).toBe(50);
  });

  test('are each a context value', () => {
    expect(
      sizesWith({ 'media.memoryMegabytes': '6144', 'image.maxConcurrency': '5', 'ebook.timeoutSeconds': 600 }),
    ).toEqual({
      media: { memoryMegabytes: 6_144 },
      image: { maxConcurrency: 5 },
    });
  });

  test('are capped for a new account, unless told otherwise', () => {
    const context = { preset: 'small', 'media.memoryMegabytes': '4096' };
    const sizes = sizesWith(context);
    expect(sizes.media).toEqual({ memoryMegabytes: 4_096, maxConcurrency: 1 });
    expect(sizes.image).toEqual({ memoryMegabytes: 3_008, maxConcurrency: 1 });
    expect(sizes.archive).toEqual({ maxConcurrency: 1 });
    expect(waitConcurrency(scopeWith(context))).toBeUndefined();
  });

  test('switch AWS Batch on for an engine, with jobs of a size that Fargate has', () => {
    const context = { 'media.batchHours': '4', 'media.batchVcpus': '16', 'media.batchMemoryMegabytes': '32768' };
    expect(sizesWith(context)).toEqual({ media: { batchHours: 4, batchVcpus: 16, batchMemoryMegabytes: 32_768 } });
    expect(sizesWith({ 'media.batchHours': '0' })).toEqual({});
  });

  test('reach the catalogue of a function by its environment', () => {
    const [image] = engineCatalogues;
    if (!image) throw new Error('There is no engine.');
    const chosen = decodeSizes(encodeSizes({ image: { diskMegabytes: 512 } }));
    expect(withSizes(image, chosen).resources).toEqual({ ...image.resources, diskMegabytes: 512 });
    expect(withSizes(image, decodeSizes(undefined))).toBe(image);
  });

  test.for<[Record<string, unknown>, string]>([
    [{ preset: 'tiny' }, 'Expected usual or small for preset but received tiny.'],
    [
      { 'media.memoryMegabytes': '20000' },
      'Expected an integer from 128 to 10240 for media.memoryMegabytes but received 20000.',
    ],
    [{ 'media.maxConcurrency': '0' }, 'Expected an integer from 1 to 1000 for media.maxConcurrency but received 0.'],
    [{ 'video.memoryMegabytes': '3008' }, 'but received video.memoryMegabytes'],
    [{ 'media.memory': '3008' }, 'but received media.memory'],
    [{ 'webpage.batchHours': '1' }, 'Expected no webpage.batchHours'],
    [{ 'media.batchHours': '13' }, 'Expected an integer from 0 to 12 for media.batchHours but received 13.'],
    [{ 'media.batchHours': '1', 'media.batchVcpus': '3' }, 'Expected 1, 2, 4, 8 or 16 for media.batchVcpus'],
    [{ 'media.batchHours': '1', 'media.batchVcpus': '16' }, 'Expected 32768 to 122880 in steps of 8192'],
  ])('are refused where they are wrong: %j', ([context, message]) => {
    expect(() => sizesWith(context)).toThrow(message);
  });

  test('a reservation for waits that AWS would refuse is refused', () => {
    expect(waitConcurrency(scopeWith({ waitConcurrency: '0' }))).toBeUndefined();
    expect(() => waitConcurrency(scopeWith({ waitConcurrency: '950' }))).toThrow('from 0 to 900 for waitConcurrency');
  });
});

describe('a deployment', () => {
  const certificate = (region: string) => `arn:aws:acm:${region}:000000000000:certificate/0`;
  const hosts = { domain: 'a.example.com', socketsDomain: 'b.example.com', certificateArn: certificate('us-east-1') };

  test('has a certificate for WebSockets where it is, which in us-east-1 may be that of the distribution', () => {
    const socketsOf = (context: Record<string, unknown>) => readDeployment(scopeWith(context)).socketsDomain;
    const own = { region: 'eu-central-1', socketsCertificateArn: certificate('eu-central-1') };
    expect(socketsOf({ ...hosts, ...own })?.certificateArn).toBe(own.socketsCertificateArn);
    expect(socketsOf({ ...hosts, region: 'us-east-1' })?.certificateArn).toBe(hosts.certificateArn);
  });

  test('keeps its data by default, and not in the stages for trying out', () => {
    const keeps = (context: Record<string, unknown>) => readDeployment(scopeWith(context)).keepsData;
    expect([keeps({}), keeps({ stage: 'prod' }), keeps({ stage: 'dev' }), keeps({ stage: 'test' })]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([keeps({ stage: 'dev', keepData: 'true' }), keeps({ keepData: false })]).toEqual([true, false]);
  });

  test.for<[Record<string, unknown>, string]>([
    [{ stage: 'Prod_1' }, 'for stage but received Prod_1'],
    [{ keepData: 'yes' }, 'Expected true or false for keepData but received yes.'],
    [{ region: 'Frankfurt' }, 'Expected a region of AWS for region but received Frankfurt.'],
    [{ logDays: '31' }, 'for logDays but received 31'],
    [{ throttleRate: '0' }, 'Expected a positive integer for throttleRate but received 0.'],
    [{ domain: 'https://a.example.com' }, 'Expected a host name for domain'],
    [{ domain: 'a.example.com' }, 'Expected certificateArn with domain'],
    [{ certificateArn: certificate('us-east-1') }, 'Expected domain with certificateArn'],
    [
      { domain: 'a.example.com', certificateArn: certificate('eu-central-1') },
      'Expected a certificate in us-east-1 for certificateArn, the only region that CloudFront supports',
    ],
    [{ socketsDomain: 'b.example.com' }, 'Expected socketsCertificateArn with socketsDomain'],
    [{ ...hosts, region: 'eu-central-1' }, 'It defaults to certificateArn only with region=us-east-1'],
    [
      { ...hosts, region: 'eu-central-1', socketsCertificateArn: certificate('us-east-1') },
      'Expected a certificate in eu-central-1 for socketsCertificateArn',
    ],
    [{ ...hosts, socketsDomain: hosts.domain }, 'Expected another host for socketsDomain'],
    [{ page: 'no' }, 'Expected true or false for page but received no.'],
    [{ ...hosts, page: 'false' }, 'Expected no domain with page set to false'],
    [{ priceClass: '300' }, 'Expected 100, 200 or All for priceClass but received 300.'],
    [{ webpagePackaging: 'layers' }, 'Expected image or zip for webpagePackaging but received layers.'],
    [{ webpagePackaging: 'zip', architecture: 'arm64' }, 'the Chromium of its layers is built for x86_64 only'],
    [{ webAclArn: 'arn:aws:wafv2:eu-central-1:000000000000:regional/webacl/a/b' }, 'which is in us-east-1'],
  ])('is refused if a context value is invalid: %j', ([context, message]) => {
    expect(() => readDeployment(scopeWith(context))).toThrow(message);
  });
});
