/** URLs by imgproxy's own client. It is the reference for option names, argument order, encodings and signatures. */
import { generateImageUrl } from '@imgproxy/imgproxy-node';
import { describe, expect, it } from 'vitest';
import { parsePath, splitPath } from '../../../../functions/api/pictures/parse-path.ts';
import { verifySignature } from '../../../../functions/api/pictures/signature.ts';
import { type Changes, picture } from './pictures.ts';

type ClientOptions = NonNullable<Parameters<typeof generateImageUrl>[0]['options']>;

const endpoint = 'https://pictures.example.com/i/6af9126cc0830000f25c62d1';
const key = '943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881';
const salt = '520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5';
const source = 'https://example.com/photos/a b/ä?size=large&at=1@2x.jpg#100%';
const now = 1_800_000_000;

const cases: [ClientOptions, Changes][] = [
  [{}, {}],
  [{ width: 300 }, { resize: { width: 300 } }],
  [{ height: 200 }, { resize: { height: 200 } }],
  [{ width: 300, height: 200, resizing_type: 'fill' }, { resize: { type: 'fill', width: 300, height: 200 } }],
  [{ resizing_type: 'fill-down' }, { resize: { type: 'fill-down' } }],
  [{ resizing_type: 'auto', w: 10 }, { resize: { type: 'auto', width: 10 } }],
  [{ min_width: 120, min_height: 80 }, { resize: { minWidth: 120, minHeight: 80 } }],
  [
    { resize: { resizing_type: 'fill', width: 300, height: 400 } },
    { resize: { type: 'fill', width: 300, height: 400 } },
  ],
  [{ resize: { resizing_type: 'fill', height: 300 } }, { resize: { type: 'fill', height: 300 } }],
  [{ resize: { width: 300 } }, { resize: { width: 300 } }],
  [{ resize: { resizing_type: 'force', width: 0, height: 50 } }, { resize: { type: 'force', height: 50 } }],
  [
    { resize: { resizing_type: 'fit', width: 300, height: 300, enlarge: true } },
    { resize: { width: 300, height: 300, enlarge: true } },
  ],
  [
    { resize: { resizing_type: 'fit', width: 300, height: 300, extend: { extend: true } } },
    { resize: { width: 300, height: 300 }, extend: { type: 'ce', x: 0, y: 0 } },
  ],
  [
    {
      resize: {
        width: 300,
        height: 300,
        enlarge: 1,
        extend: { extend: 1, gravity: { type: 'nowe', x_offset: 10, y_offset: 20 } },
      },
    },
    { resize: { width: 300, height: 300, enlarge: true }, extend: { type: 'nowe', x: 10, y: 20 } },
  ],
  [{ size: { width: 640, height: 480 } }, { resize: { width: 640, height: 480 } }],
  [{ size: { height: 480, enlarge: false } }, { resize: { height: 480 } }],
  [
    { size: { width: 5, extend: { extend: true, gravity: { type: 'fp', x: 0.25, y: 1 } } } },
    { resize: { width: 5 }, extend: { type: 'fp', x: 0.25, y: 1 } },
  ],
  [{ enlarge: true }, { resize: { enlarge: true } }],
  [{ enlarge: false }, {}],
  [{ zoom: 1.5 }, { resize: { zoomX: 1.5, zoomY: 1.5 } }],
  [{ zoom: { zoom_x: 0.5, zoom_y: 2 } }, { resize: { zoomX: 0.5, zoomY: 2 } }],
  [{ dpr: 2 }, { resize: { dpr: 2 } }],
  [{ dpr: 0.75, width: 99 }, { resize: { dpr: 0.75, width: 99 } }],
  [{ extend: { extend: false, gravity: { type: 'so' } } }, {}],
  [{ extend: { extend: 't', gravity: { type: 'so', y_offset: 5 } } }, { extend: { type: 'so', x: 0, y: 5 } }],
  [{ extend_aspect_ratio: { extend: true } }, { extendAspectRatio: { type: 'ce', x: 0, y: 0 } }],
  [
    { extend_aspect_ratio: { extend: true, gravity: { type: 'ea', x_offset: -0.1 } } },
    { extendAspectRatio: { type: 'ea', x: -0.1, y: 0 } },
  ],
  [{ gravity: { type: 'no' } }, { gravity: { type: 'no', x: 0, y: 0 } }],
  [{ gravity: { type: 'soea', x_offset: 12, y_offset: -7 } }, { gravity: { type: 'soea', x: 12, y: -7 } }],
  [{ gravity: { type: 'we', y_offset: 0.2 } }, { gravity: { type: 'we', x: 0, y: 0.2 } }],
  [{ gravity: { type: 'sm' } }, { gravity: { type: 'sm', x: 0, y: 0 } }],
  [{ gravity: { type: 'fp', x: 0, y: 0.75 } }, { gravity: { type: 'fp', x: 0, y: 0.75 } }],
  [{ crop: { width: 500, height: 400 } }, { crop: { width: 500, height: 400, gravity: { type: 'ce', x: 0, y: 0 } } }],
  [{ crop: { width: 0.5, height: 0 } }, { crop: { width: 0.5, height: 0, gravity: { type: 'ce', x: 0, y: 0 } } }],
  [{ crop: { width: 0, height: 0 } }, {}],
  [
    { crop: { width: 500, height: 400, gravity: { type: 'sowe', x_offset: 1, y_offset: 0.5 } } },
    { crop: { width: 500, height: 400, gravity: { type: 'sowe', x: 1, y: 0.5 } } },
  ],
  [
    { crop: { width: 500, height: 400 }, gravity: { type: 'sm' } },
    {
      gravity: { type: 'sm', x: 0, y: 0 },
      crop: { width: 500, height: 400, gravity: { type: 'sm', x: 0, y: 0 } },
    },
  ],
  [{ trim: { threshold: 10 } }, { trim: { threshold: 10, color: null, equalHorizontal: false, equalVertical: false } }],
  [
    { trim: { threshold: 0.5, color: 'F0C' } },
    { trim: { threshold: 0.5, color: 'ff00cc', equalHorizontal: false, equalVertical: false } },
  ],
  [
    { trim: { threshold: 20, color: 'FF00FF', equal_hor: true, equal_ver: true } },
    { trim: { threshold: 20, color: 'ff00ff', equalHorizontal: true, equalVertical: true } },
  ],
  [
    { trim: { threshold: 0, equal_ver: 1 } },
    { trim: { threshold: 0, color: null, equalHorizontal: false, equalVertical: true } },
  ],
  [{ padding: 10 }, { padding: { top: 10, right: 10, bottom: 10, left: 10 } }],
  [{ padding: { top: 10, right: 20 } }, { padding: { top: 10, right: 20, bottom: 10, left: 20 } }],
  [{ padding: { top: 1, right: 2, bottom: 3, left: 4 } }, { padding: { top: 1, right: 2, bottom: 3, left: 4 } }],
  [{ padding: { right: 7 } }, { padding: { right: 7, left: 7 } }],
  [{ padding: { bottom: 9 } }, { padding: { bottom: 9 } }],
  [{ auto_rotate: false }, { autoRotate: false }],
  [{ rotate: 90 }, { rotate: 90 }],
  [
    { rotate: 270, flip: { horizontal: true } },
    { rotate: 270, flip: { horizontal: true } },
  ],
  [{ flip: { horizontal: true, vertical: true } }, { flip: { horizontal: true, vertical: true } }],
  [{ background: 'FfDdEe' }, { background: 'ffddee' }],
  [{ background: { r: 128, g: 0, b: 255 } }, { background: '8000ff' }],
  [{ blur: 2.5 }, { blur: 2.5 }],
  [{ sharpen: 0.7 }, { sharpen: 0.7 }],
  [{ pixelate: 16 }, { pixelate: 16 }],
  [{ watermark: { opacity: 0.5 } }, { watermark: { opacity: 0.5, position: 'ce', x: 0, y: 0, scale: 0 } }],
  [
    { watermark: { opacity: 1, position: 'soea', x_offset: 10, y_offset: -0.5, scale: 0.2 } },
    { watermark: { opacity: 1, position: 'soea', x: 10, y: -0.5, scale: 0.2 } },
  ],
  [
    { watermark: { opacity: 0.3, position: 're', x_offset: 0, scale: 0 } },
    { watermark: { opacity: 0.3, position: 're', x: 0, y: 0, scale: 0 } },
  ],
  [{ watermark: { opacity: 0, position: 'no' } }, {}],
  [{ strip_metadata: false }, { stripMetadata: false }],
  [
    { keep_copyright: false, strip_color_profile: 'f' },
    { keepCopyright: false, stripColorProfile: false },
  ],
  [
    { preserve_hdr: true, enforce_thumbnail: true },
    { preserveHdr: true, enforceThumbnail: true },
  ],
  [{ quality: 75 }, { quality: 75 }],
  [
    {
      format_quality: [
        { format: 'jpg', quality: 70 },
        { format: 'webp', quality: 60 },
      ],
    },
    { formatQuality: { jpg: 70, webp: 60 } },
  ],
  [{ max_bytes: 50_000 }, { maxBytes: 50_000 }],
  [{ format: 'avif' }, { format: 'avif' }],
  [
    { format: 'jpg', quality: 40 },
    { format: 'jpg', quality: 40 },
  ],
  [{ skip_processing: ['jpg', 'gif'] }, { skipProcessing: ['jpg', 'gif'] }],
  [{ raw: true }, { raw: true }],
  [{ filename: { name: 'caf%C3%A9%20menu' } }, { filename: 'café menu' }],
  [{ filename: { name: 'Y2Fmw6kvbWVudQ', encoded: true } }, { filename: 'café/menu' }],
  [{ return_attachment: true }, { returnAttachment: true }],
  [{ expires: now + 60 }, { expires: now + 60 }],
  [{ cachebuster: 'v2' }, { cachebuster: 'v2' }],
  [{ preset: ['square', 'gray-frame'] }, squareInGrayFrame()],
  [
    { preset: ['square'], width: 200, quality: 90 },
    { resize: { type: 'fill', width: 200, height: 100 }, quality: 90 },
  ],
  [
    {
      resize: { resizing_type: 'fill', width: 800, height: 600, enlarge: true },
      gravity: { type: 'fp', x: 0.3, y: 0.6 },
      dpr: 2,
      quality: 82,
      format: 'webp',
      sharpen: 0.5,
      background: 'fff',
      padding: { top: 5 },
      strip_metadata: true,
      watermark: { opacity: 0.8, position: 'sowe', scale: 0.1 },
      cachebuster: '2026-11-18',
      filename: { name: 'cover' },
    },
    {
      resize: { type: 'fill', width: 800, height: 600, enlarge: true, dpr: 2 },
      gravity: { type: 'fp', x: 0.3, y: 0.6 },
      quality: 82,
      format: 'webp',
      sharpen: 0.5,
      background: 'ffffff',
      padding: { top: 5, right: 5, bottom: 5, left: 5 },
      watermark: { opacity: 0.8, position: 'sowe', x: 0, y: 0, scale: 0.1 },
      cachebuster: '2026-11-18',
      filename: 'cover',
    },
  ],
];

const presets = { square: 'rs:fill:100:100', 'gray-frame': 'padding:8/background:ccc' };

function squareInGrayFrame(): Changes {
  return {
    resize: { type: 'fill', width: 100, height: 100 },
    padding: { top: 8, right: 8, bottom: 8, left: 8 },
    background: 'cccccc',
  };
}

function pathOf(url: string): string {
  expect(url.startsWith(`${endpoint}/`)).toBe(true);
  return url.slice(endpoint.length);
}

describe('a URL by the client of imgproxy', () => {
  it('is tested with at least 60 combinations of options', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60);
  });

  it.each(cases)('with the options %j and a base64 source is read as they mean', (options, changes) => {
    const signed = splitPath(pathOf(generateImageUrl({ endpoint, url: source, options, key, salt })));

    verifySignature(signed, { key, salt });
    const parsed = parsePath(signed.path, { presets, now });
    expect(parsed.source).toBe(source);
    expect(parsed.spec).toEqual(picture(changes));
  });

  it.each(cases)('with the options %j and a plain source is read as they mean', (options, changes) => {
    const url = { value: encodeURIComponent(source), displayAs: 'plain' } as const;
    const signed = splitPath(pathOf(generateImageUrl({ endpoint, url, options, key, salt })));

    verifySignature(signed, { key, salt });
    const parsed = parsePath(signed.path, { presets, now });
    expect(parsed.source).toBe(source);
    expect(parsed.spec).toEqual(picture(changes));
  });

  it.each<[ClientOptions, string]>([
    [{ resizing_algorithm: 'cubic' }, 'ra: The option resizing_algorithm is'],
    [{ brightness: 10 }, 'br: The option brightness is'],
    [{ watermark_text: 'aGk' }, 'wmt: The option watermark_text is'],
    [{ page: 2 }, 'pg: The option page is'],
    [{ dpi: 300 }, 'dpi: The option dpi is'],
    [{ gravity: { type: 'obj', class_names: ['face', 'cat', 'dog', 'bus'] } }, 'gravity: The gravity obj is'],
    [{ watermark: { opacity: 1, position: 'ch' } }, 'watermark: The position ch is'],
    [{ format: 'best' }, 'format: The format best is'],
    [{ format: 'mp4' }, 'format: The format mp4 is'],
  ])('with the options %j of imgproxy Pro is refused by name', (options, message) => {
    const { path } = splitPath(pathOf(generateImageUrl({ endpoint, url: source, options })));

    expect(() => parsePath(path)).toThrow(`${message} a feature of imgproxy Pro, which this service does not support.`);
  });

  it('with an encrypted source is refused by name', () => {
    const url = { value: source, displayAs: 'encrypted' } as const;
    const encryptKey = '1eb5b0e971ad7f45324c1bb15c947cb207c43152fa5c6c7f35c4f36e0c18e0f1';
    const { path } = splitPath(pathOf(generateImageUrl({ endpoint, url, encryptKey })));

    expect(() => parsePath(path)).toThrow('An encrypted URL is a feature of imgproxy Pro');
  });
});
