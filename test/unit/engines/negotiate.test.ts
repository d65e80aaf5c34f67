import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  acceptedFormats,
  negotiateFormat,
  type SourcePicture,
} from '../../../functions/engines/image/derive/negotiate.ts';
import { type PictureFormat, pictureFormats, qualityOf, varyOf } from '../../../shared/pictures/picture.ts';
import { type Changes, picture } from '../api/pictures/pictures.ts';

const chrome = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';
const olderSafari = 'image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5';
const animations = { limits: { maxAnimationFrames: 100 } };

function sourceOf(format: PictureFormat, traits: Partial<SourcePicture> = {}): SourcePicture {
  return { format, isAnimated: false, hasAlpha: false, ...traits };
}

describe('the output format', () => {
  it.each<[string, PictureFormat, string | undefined, PictureFormat]>([
    ['a browser with AVIF', 'jpg', chrome, 'avif'],
    ['a browser with WebP', 'png', olderSafari, 'webp'],
    ['a client without an Accept header', 'jpg', undefined, 'jpg'],
    ['a client that accepts everything', 'png', '*/*', 'png'],
    ['a client that accepts all images', 'gif', 'image/*', 'gif'],
    ['a client without WebP', 'webp', 'image/png', 'jpg'],
    ['a client without AVIF', 'avif', '*/*', 'jpg'],
    ['a client without HEIC', 'heic', undefined, 'jpg'],
    ['a client without TIFF', 'tiff', undefined, 'jpg'],
    ['a browser that could show the WebP', 'webp', chrome, 'avif'],
  ])('for %s and a source in %s is that of its Accept header', (_client, source, accept, format) => {
    expect(negotiateFormat(picture(), sourceOf(source), accept)).toEqual({ format, isUnchanged: false });
  });

  it('is that of the URL, whatever the client accepts', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...pictureFormats.filter((format) => format !== 'svg')),
        fc.constantFrom(...pictureFormats),
        fc.constantFrom(chrome, olderSafari, undefined),
        (format, source, accept) => {
          const spec = picture({ format });

          expect(negotiateFormat(spec, sourceOf(source), accept)).toEqual({ format, isUnchanged: false });
          expect(varyOf(spec)).toEqual({});
        },
      ),
    );
  });

  it.each<[string, Changes, Partial<SourcePicture>, PictureFormat]>([
    ['an opaque image', {}, {}, 'jpg'],
    ['transparency', {}, { hasAlpha: true }, 'png'],
    ['transparency on a background', { background: 'ffffff' }, { hasAlpha: true }, 'jpg'],
    ['padding', { padding: { left: 1 } }, {}, 'png'],
    ['extension', { extend: { type: 'ce', x: 0, y: 0 } }, {}, 'png'],
    ['extension to an aspect ratio', { extendAspectRatio: { type: 'ce', x: 0, y: 0 } }, {}, 'jpg'],
    ['an animation', animations, { isAnimated: true }, 'gif'],
    ['one frame of an animation', {}, { isAnimated: true }, 'jpg'],
  ])(
    'for %s in WebP is one that can hold it if the client does not accept WebP',
    (_content, changes, traits, format) => {
      expect(negotiateFormat(picture(changes), sourceOf('webp', traits))).toEqual({ format, isUnchanged: false });
    },
  );

  it('of an animation is never AVIF', () => {
    const gif = sourceOf('gif', { isAnimated: true });

    expect(negotiateFormat(picture(animations), gif, chrome).format).toBe('webp');
    expect(negotiateFormat(picture(animations), gif, 'image/avif').format).toBe('gif');
    expect(negotiateFormat(picture(), gif, 'image/avif').format).toBe('avif');
  });

  it('of an SVG is SVG unless the URL says otherwise', () => {
    const svg = sourceOf('svg', { hasAlpha: true });

    expect(negotiateFormat(picture(), svg, chrome)).toEqual({ format: 'svg', isUnchanged: true });
    expect(negotiateFormat(picture({ format: 'svg' }), svg)).toEqual({ format: 'svg', isUnchanged: true });
    expect(negotiateFormat(picture({ format: 'png' }), svg)).toEqual({ format: 'png', isUnchanged: false });
  });

  it('cannot be SVG for any other source', () => {
    expect(() => negotiateFormat(picture({ format: 'svg' }), sourceOf('png'))).toThrow(
      'Expected an SVG source for SVG output but received png.',
    );
  });

  it('is unchanged for formats that are not processed', () => {
    const unchanged = { format: 'gif', isUnchanged: true };
    const skipProcessing: PictureFormat[] = ['gif'];

    expect(negotiateFormat(picture({ skipProcessing }), sourceOf('gif'), chrome)).toEqual(unchanged);
    expect(negotiateFormat(picture({ skipProcessing, format: 'gif' }), sourceOf('gif'))).toEqual(unchanged);
    expect(negotiateFormat(picture({ skipProcessing, format: 'png' }), sourceOf('gif')).isUnchanged).toBe(false);
    expect(negotiateFormat(picture({ skipProcessing }), sourceOf('png')).isUnchanged).toBe(false);
    expect(negotiateFormat(picture({ raw: true }), sourceOf('gif'), chrome)).toEqual(unchanged);
  });

  it('varies by the Accept header only if it is negotiated', () => {
    expect(varyOf(picture())).toEqual({ Vary: 'Accept' });
    expect(varyOf(picture({ format: 'jpg' }))).toEqual({});
    expect(varyOf(picture({ raw: true }))).toEqual({});
  });
});

describe('an Accept header', () => {
  it.each([
    [undefined, []],
    ['', []],
    [chrome, ['avif', 'webp']],
    ['image/webp, image/avif', ['avif', 'webp']],
    ['IMAGE/WEBP;q=0.1', ['webp']],
    ['image/avif;q=0,image/webp ; q=0.0', []],
    ['image/avif ;level=1; Q=0.000, image/webp;q=0.001', ['webp']],
    ['image/webpx, ximage/webp, text/image/webp', []],
  ])('%j accepts %j', (accept, formats) => {
    expect(acceptedFormats(accept)).toEqual(formats);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (accept) => acceptedFormats(accept).length <= 2));
  });
});

describe('the quality', () => {
  it('is that of the URL, of the format in the URL, or of the format', () => {
    expect(qualityOf(picture({ quality: 7, formatQuality: { avif: 50 } }), 'avif')).toBe(7);
    expect(qualityOf(picture({ formatQuality: { avif: 50 } }), 'avif')).toBe(50);
    expect(qualityOf(picture({ formatQuality: { avif: 0 } }), 'avif')).toBe(63);
    expect(qualityOf(picture({ formatQuality: { avif: 50 } }), 'webp')).toBe(79);
    expect(qualityOf(picture(), 'jxl')).toBe(77);
    expect(qualityOf(picture(), 'jpg')).toBe(80);
  });
});
