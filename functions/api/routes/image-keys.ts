import * as z from 'zod';
import { Id, text, Url } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';

const maxSources = 50;
const maxPresets = 100;
/** A year, after which caches ask again anyway. */
const maxAge = 31_536_000;

const Host = () =>
  z
    .string('Expected a string.')
    .max(260)
    .regex(
      /^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[0-9]{1,5})?$/,
      'Expected a host such as images.example.com, *.example.com or images.example.com:8080.',
    )
    .transform((host) => host.toLowerCase())
    .meta({ examples: ['images.example.com'] });
const HostSource = () =>
  z.strictObject({
    host: Host().describe('A host, or with `*.` all hosts of a domain. Both http and https are allowed.'),
    prefix: text(1024)
      .regex(/^\//, 'Expected a path that begins with a slash.')
      .optional()
      .describe('Start of the paths that are allowed.'),
  });
const BucketSource = () =>
  z.strictObject({
    bucket: z
      .string('Expected a string.')
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/, 'Expected the name of a bucket.')
      .describe('A bucket of S3 or a compatible store, for URLs such as s3://bucket/key.'),
    region: z
      .string('Expected a string.')
      .regex(/^[a-z0-9-]{1,40}$/, 'Expected a region such as us-east-1.')
      .describe('Region of the bucket.'),
    access_key_id: text(128).describe('Id of an access key that can read the objects.'),
    secret_access_key: text(256).describe('The access key itself. It is never shown again.'),
    endpoint: Url.optional().describe('URL of a compatible store. Defaults to that of S3.'),
    prefix: text(1024).optional().describe('Start of the keys of objects that are allowed.'),
  });

const ImageKeyRequest = () =>
  z.object({
    name: text(100).describe('Purpose of the key.'),
    sources: z
      .array(
        z.union([HostSource(), BucketSource()], 'Expected a host or a bucket with its credentials.'),
        'Expected a list.',
      )
      .min(1, 'Expected at least one source.')
      .max(maxSources, `Expected at most ${maxSources} sources.`)
      .describe('Hosts and buckets that images may come from.'),
    presets: z
      .record(
        z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'Expected a name of letters, digits, dots, dashes and underscores.'),
        text(1000),
        'Expected an object.',
      )
      .refine((presets) => Object.keys(presets).length <= maxPresets, `Expected at most ${maxPresets} presets.`)
      .meta({ maxProperties: maxPresets })
      .default({})
      .describe('Processing options by the name of the preset, as in a URL: `rs:fill:300:200/q:80`.'),
    presets_only: z.boolean('Expected a boolean.').default(false).describe('Whether URLs may only name presets.'),
    signature_size: z
      .int('Expected an integer.')
      .min(8, 'Expected at least 8.')
      .max(32, 'Expected at most 32.')
      .default(32)
      .describe('Bytes of a signature. Shorter signatures make shorter URLs.'),
    max_age: z
      .int('Expected a number of seconds.')
      .min(0, 'Expected at least 0.')
      .max(maxAge, `Expected at most ${maxAge}.`)
      .default(maxAge)
      .describe('How long browsers and CloudFront cache images, in seconds.'),
    watermark: text(2048)
      .optional()
      .describe('URL of the picture that the option `watermark` draws. It must be within the sources.'),
  });

export const imageKeyRoutes = {
  'image-key-create': {
    module: 'image-keys/create-image-key',
    ...keyed('POST', '/v1/account/image-keys', 'account', 'Images by URL'),
    summary: 'Create a key for image URLs (shown only once)',
    permissions: ['accountImageKey:query', 'accountImageKey:put', 'imageKey:put', 'audit:put'],
    body: ImageKeyRequest,
    success: 201,
    errors: [409],
    refusals: ['invalid_options', 'invalid_url'],
    response: 'NewImageKey',
  },
  'image-key-list': {
    module: 'image-keys/list-image-keys',
    ...keyed('GET', '/v1/account/image-keys', 'account', 'Images by URL'),
    summary: 'List the keys for image URLs',
    permissions: ['accountImageKey:query'],
    response: 'ImageKeyList',
  },
  'image-key-delete': {
    module: 'image-keys/delete-image-key',
    ...keyed('DELETE', '/v1/account/image-keys/{imageKeyId}', 'account', 'Images by URL'),
    summary: 'Delete a key for image URLs (it stops working within 30 seconds; cached images remain)',
    permissions: ['accountImageKey:get', 'accountImageKey:delete', 'imageKey:delete', 'audit:put'],
    params: () => z.object({ imageKeyId: Id }),
  },
} as const satisfies Record<string, Route>;
