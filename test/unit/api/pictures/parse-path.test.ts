import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../../functions/api/http/errors.ts';
import {
  checkPresets,
  type PathSettings,
  parsePath,
  splitPath,
} from '../../../../functions/api/pictures/parse-path.ts';
import type { PictureFormat, PictureSpec } from '../../../../shared/pictures/picture.ts';
import { type Changes, picture } from './pictures.ts';

const source = 'http://images.dev/lorem/ipsum.jpg';
const encoded = Buffer.from(source).toString('base64url');

function specOf(options: string, settings: Partial<PathSettings> = {}): PictureSpec {
  return parsePath(`/${options}/plain/${source}`, settings).spec;
}

function errorOf(parse: () => unknown): HttpError {
  try {
    parse();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('Expected an error.');
}

describe('the split of a path', () => {
  it.each([
    ['/sig/rs:fill:300:200/plain/http://example.com/a.jpg', '/rs:fill:300:200/plain/http://example.com/a.jpg'],
    ['sig/w:1/aHR0cDovL2E', '/w:1/aHR0cDovL2E'],
    ['/sig/w:1/plain/http://example.com/a.jpg?size=1', '/w:1/plain/http://example.com/a.jpg'],
    ['/sig//w:1/aHR0cDovL2E', '/w:1/aHR0cDovL2E'],
  ])('%s is the signature and what is signed', (raw, path) => {
    expect(splitPath(raw)).toEqual({ signature: 'sig', path });
  });

  it.each([
    ['/plain/https:/example.com/a.jpg', '/plain/https://example.com/a.jpg'],
    ['/w:1/plain/s3:/bucket/a.jpg', '/w:1/plain/s3://bucket/a.jpg'],
    ['/w%3A1/plain/https://example.com/a%3Ab.jpg', '/w:1/plain/https://example.com/a%3Ab.jpg'],
    ['/rs%3Afill%3A1/abc/def', '/rs:fill:1/abc/def'],
    ['/plain/https%3A//example.com/a.jpg', '/plain/https%3A//example.com/a.jpg'],
    ['/plain/example.com/a.jpg', '/plain/example.com/a.jpg'],
    ['/plain/http:', '/plain/http:'],
    ['/plain/https://example.com/a:/b', '/plain/https://example.com/a:/b'],
  ])('restores %s, as proxies change it, to %s', (changed, path) => {
    expect(splitPath(`/sig${changed}`).path).toBe(path);
  });

  it.each(['', '/', '/sig', '/sig/', '//w:1/plain/http://a', '?', '/sig?/w:1/plain/a'])(
    'of %j is the 404 that shows the form',
    (raw) => {
      expect(errorOf(() => splitPath(raw))).toMatchObject({
        status: 404,
        message: expect.stringContaining('Expected a path of the form /<signature>/<options>/plain/<url>'),
      });
    },
  );

  it('refuses a path of more than 8192 characters', () => {
    expect(splitPath(`/sig/${'a'.repeat(8_187)}`).path).toHaveLength(8_188);
    expect(errorOf(() => splitPath(`/sig/${'a'.repeat(8_188)}`))).toMatchObject({ status: 413 });
  });
});

describe('the source of a path', () => {
  it.each<[string, PictureFormat | null]>([
    [`/plain/${source}`, null],
    [`/plain/${source}@`, null],
    [`/plain/${source}@png`, 'png'],
    [`/plain/${encodeURIComponent(source)}@jpeg`, 'jpg'],
    [`/${encoded}`, null],
    [`/${encoded}.`, null],
    [`/${encoded}.webp`, 'webp'],
    [`/${encoded}==.webp`, 'webp'],
    [`/${encoded.replace(/.{7}/g, '$&/')}.avif`, 'avif'],
  ])('of %s is decoded, and its extension is the format', (path, format) => {
    expect(parsePath(path)).toEqual({ source, spec: picture({ format }), options: [], presets: [] });
    expect(parsePath(`/w:5/h:6${path}`)).toEqual({
      source,
      spec: picture({ format, resize: { width: 5, height: 6 } }),
      options: ['width', 'height'],
      presets: [],
    });
  });

  it('may have a plus, an at sign, a query and characters that are not ASCII', () => {
    const url = 'https://example.com/ä+b@2x.jpg?a=1&b=%2F';

    expect(parsePath(`/plain/${encodeURIComponent(url)}`).source).toBe(url);
    expect(parsePath(`/${Buffer.from(url).toString('base64url')}`).source).toBe(url);
    expect(parsePath('/plain/s3://bucket/a+b').source).toBe('s3://bucket/a+b');
  });

  it('takes the extension over the format option, but not for a raw source', () => {
    expect(parsePath(`/f:png/plain/${source}@webp`).spec.format).toBe('webp');
    expect(parsePath(`/raw:1/plain/${source}@webp`).spec).toEqual(picture({ raw: true }));
    expect(parsePath(`/raw:1/plain/${source}@exe`).spec).toEqual(picture({ raw: true }));
  });

  it.each([
    ['/', 404, 'but the url is empty'],
    ['/w:1', 404, 'but there is no url'],
    ['/w:1/', 404, 'but the url is empty'],
    ['/plain/', 404, 'but the url is empty'],
    ['/plain/@png', 404, 'but the url is empty'],
    ['/.png', 404, 'but the url is empty'],
    ['/==', 404, 'but the url is empty'],
    ['/plain', 400, 'url: Expected an option with arguments, plain/<url>, or URL-safe base64 of the url'],
    ['/plain/http://a@b@png', 400, 'it is %40'],
    ['/plain/100%', 400, 'a percent sign is %25'],
    ['/plain/%ff', 400, 'Expected a percent-encoded url'],
    ['/plain/http://a%00b', 400, 'without control characters'],
    ['/aHR0.cDo.png', 400, 'at most one dot'],
    ['/aHR0c', 400, 'URL-safe base64'],
    ['/a+b/c', 400, 'URL-safe base64'],
    ['/gICA', 400, 'URL-safe base64'],
    ['/fill/300/200/sm/0/plain/http://a', 404, 'the old form /<signature>/<resizing type>'],
    ['/w:1/-/h:1/plain/http://a', 400, 'A chain of pipelines is a feature of imgproxy Pro'],
    ['/enc/jwV3wUD9r4VBIzgv', 400, 'An encrypted URL is a feature of imgproxy Pro'],
    [`/plain/${source}@exe`, 400, 'format: Expected one of jpg, png, webp'],
    [`/${encoded}.pdf`, 400, 'format: The format pdf is a feature of imgproxy Pro'],
  ])('of %s is refused', (path, status, message) => {
    expect(errorOf(() => parsePath(path))).toMatchObject({ status, message: expect.stringContaining(message) });
  });
});

describe('the options of a path', () => {
  it.each<[string, string, Changes]>([
    ['resize:fill:1:2:1:1:so:3:4', 'rs:fill:1:2:1:1:so:3:4', sized({ extend: { type: 'so', x: 3, y: 4 } })],
    ['resizing_type:fill/size:1:2:true:0', 'rt:fill/s:1:2:t:f', sized()],
    ['width:1/height:2/enlarge:1/resizing_type:fill', 'w:1/h:2/el:1/rt:fill', sized()],
    ['min-width:3/min-height:4', 'mw:3/mh:4', { resize: { minWidth: 3, minHeight: 4 } }],
    ['zoom:2:3', 'z:2:3', { resize: { zoomX: 2, zoomY: 3 } }],
    ['dpr:2', 'dpr:2.0', { resize: { dpr: 2 } }],
    ['extend:1:fp:0.5:1', 'ex:1:fp:.5:1', { extend: { type: 'fp', x: 0.5, y: 1 } }],
    ['extend_aspect_ratio:1:no', 'extend_ar:1:no', { extendAspectRatio: { type: 'no', x: 0, y: 0 } }],
    ['extend_aspect_ratio:1', 'exar:1', { extendAspectRatio: { type: 'ce', x: 0, y: 0 } }],
    ['gravity:nowe:1:-2', 'g:nowe:1:-2', { gravity: { type: 'nowe', x: 1, y: -2 } }],
    ['crop:0.5', 'c:5e-1', { crop: { width: 0.5, height: 0, gravity: { type: 'ce', x: 0, y: 0 } } }],
    ['trim:1::1', 't:1::1', { trim: { threshold: 1, color: null, equalHorizontal: true, equalVertical: false } }],
    ['padding:1:2', 'pd:1:2', { padding: { top: 1, right: 2, bottom: 1, left: 2 } }],
    ['auto_rotate:0', 'ar:f', { autoRotate: false }],
    ['rotate:450', 'rot:-270', { rotate: 90 }],
    ['flip:1', 'fl:1', { flip: { horizontal: true } }],
    ['background:1:2:255', 'bg:0102ff', { background: '0102ff' }],
    ['blur:1.5', 'bl:1.5', { blur: 1.5 }],
    ['sharpen:1.5', 'sh:1.5', { sharpen: 1.5 }],
    ['pixelate:5', 'pix:5', { pixelate: 5 }],
    ['watermark:1:re', 'wm:1:re', { watermark: { opacity: 1, position: 're', x: 0, y: 0, scale: 0 } }],
    ['watermark:1:::::x:y', 'wm:1', { watermark: { opacity: 1, position: 'ce', x: 0, y: 0, scale: 0 } }],
    ['strip_metadata:0/keep_copyright:0', 'sm:0/kcr:0', { stripMetadata: false, keepCopyright: false }],
    ['strip_color_profile:0/preserve_hdr:1', 'scp:0/ph:1', { stripColorProfile: false, preserveHdr: true }],
    ['enforce_thumbnail:1', 'eth:1', { enforceThumbnail: true }],
    ['quality:5', 'q:5', { quality: 5 }],
    ['format_quality:jpeg:1:avif:2', 'fq:jpg:1/fq:avif:2', { formatQuality: { jpg: 1, avif: 2 } }],
    ['max_bytes:7', 'mb:7', { maxBytes: 7 }],
    ['format:png', 'f:png', { format: 'png' }],
    ['ext:jpg', 'f:jpeg', { format: 'jpg' }],
    ['skip_processing:png:gif', 'skp:png/sp:gif:png', { skipProcessing: ['png', 'gif'] }],
    ['raw:1', 'raw:t', { raw: true }],
    ['cachebuster:x', 'cb:x', { cachebuster: 'x' }],
    ['expires:32503669200', 'exp:32503669200', { expires: 32_503_669_200 }],
    ['filename:a%20b', 'fn:YSBi:1', { filename: 'a b' }],
    ['return_attachment:1', 'att:1', { returnAttachment: true }],
  ])('%s means the same as %s', (long, short, changes) => {
    expect(specOf(long)).toEqual(picture(changes));
    expect(specOf(short)).toEqual(picture(changes));
  });

  it.each<[string, Changes]>([
    ['rs:fill::300', { resize: { type: 'fill', height: 300 } }],
    ['rs::300', { resize: { width: 300 } }],
    ['rs:', {}],
    ['rs:fit:300:200::1', { resize: { width: 300, height: 200 }, extend: { type: 'ce', x: 0, y: 0 } }],
    ['rs:fit:300:200:::no', { resize: { width: 300, height: 200 } }],
    ['s::5', { resize: { height: 5 } }],
    ['pd::7', { padding: { right: 7, left: 7 } }],
    ['pd:1:::2', { padding: { top: 1, right: 1, bottom: 1, left: 2 } }],
    ['g:no::5', { gravity: { type: 'no', x: 0, y: 5 } }],
    ['g:fp::', { gravity: { type: 'fp', x: 0, y: 0 } }],
    ['t:', {}],
    ['t::ff0000', {}],
    ['fl::1', { flip: { vertical: true } }],
    ['bg:', {}],
    ['cb:', {}],
    ['fn:', {}],
    ['exp:0', {}],
    ['el:yes', {}],
    ['ex:1/el:', { extend: { type: 'ce', x: 0, y: 0 } }],
  ])('%s leaves out arguments', (options, changes) => {
    expect(specOf(options)).toEqual(picture(changes));
  });

  it.each<[string, Changes]>([
    ['w:1/w:2', { resize: { width: 2 } }],
    ['rs:fill:1:2/rs::3', { resize: { type: 'fill', width: 3, height: 2 } }],
    ['bg:fff/bg:', {}],
    ['t:5:f00:1/t:6', { trim: { threshold: 6, color: null, equalHorizontal: true, equalVertical: false } }],
    ['t:5/t:', {}],
    ['g:no:1:2/g:so', { gravity: { type: 'so', x: 1, y: 2 } }],
    ['g:no:1:2/g:sm/g:so', { gravity: { type: 'so', x: 0, y: 0 } }],
    ['pd:5/pd::9', { padding: { top: 5, right: 9, bottom: 5, left: 9 } }],
    ['pd:::5/pd::9', { padding: { right: 9, bottom: 5, left: 9 } }],
    ['wm:1:no:1:2:0.5/wm:0.5', { watermark: { opacity: 0.5, position: 'no', x: 1, y: 2, scale: 0.5 } }],
    ['ex:1:no/ex:0', {}],
    ['ex:1:no:1/ex:0/ex:1', { extend: { type: 'no', x: 1, y: 0 } }],
    ['c:1:2:so/g:no', croppedAt('so', 'no')],
    ['c:1:2/g:no', croppedAt('no', 'no')],
  ])('%s applies in order and keeps what is left out', (options, changes) => {
    expect(specOf(options)).toEqual(picture(changes));
  });

  it.each([
    ['foo:1', 'foo: Unknown processing option.'],
    ['widht:1', 'widht: Unknown processing option. Did you mean width?'],
    [':1', ': Unknown processing option.'],
    ['w:', 'width: Expected an integer from 0 to 16384 but received "".'],
    ['w:abc', 'width: Expected an integer from 0 to 16384 but received "abc".'],
    ['w:1.5', 'width: Expected an integer'],
    ['w:-1', 'width: Expected an integer'],
    ['w:16385', 'width: Expected an integer'],
    ['w:1e3', 'width: Expected an integer'],
    ['w:1:2', 'width: Expected at most 1 arguments but received "1:2".'],
    ['h:99999999999999999999', 'height: Expected an integer'],
    ['mw:20000', 'min-width: Expected an integer'],
    ['rs:cover:1:1', 'resizing_type: Expected one of fit, fill, fill-down, force, auto but received "cover".'],
    ['rs:fit:1:1:1:1:ce:0:0:0', 'resize: Expected at most 8 arguments'],
    ['rs:fit:1:1:1:1:sm', 'extend: Expected one of ce, no'],
    ['z:0', 'zoom: Expected a number greater than 0 and at most 16 but received "0".'],
    ['z:1:', 'zoom: Expected a number greater than 0'],
    ['dpr:0', 'dpr: Expected a number greater than 0 and at most 8'],
    ['dpr:8.1', 'dpr: Expected'],
    ['dpr:NaN', 'dpr: Expected'],
    ['dpr:Infinity', 'dpr: Expected'],
    ['dpr:0x1p1', 'dpr: Expected'],
    ['ex:1:sm', 'extend: Expected one of'],
    ['ex:1:', 'extend: Expected one of'],
    ['g:re', 'gravity: Expected one of ce, no, so, ea, we, noea, nowe, soea, sowe, fp, sm but received "re".'],
    ['g:sm:1', 'gravity: Expected no offsets with the gravity sm'],
    ['g:fp:0.5', 'gravity: Expected fp:<x>:<y> but received "fp:0.5".'],
    ['g:fp:0.5:1.1', 'gravity: Expected a number from 0 to 1'],
    ['g:ce:1:2:3', 'gravity: Expected <type>:<x>:<y>'],
    ['g:objw:face:1', 'gravity: The gravity objw is a feature of imgproxy Pro'],
    ['c:1:1:obj:face', 'crop: The gravity obj is a feature of imgproxy Pro'],
    ['c::5', 'crop: Expected a number from 0 to 65535'],
    ['t:-1', 'trim: Expected a number'],
    ['t:1:red', 'trim: Expected a colour of 3 or 6 hexadecimal digits but received "red".'],
    ['pd:4097', 'padding: Expected an integer from 0 to 4096'],
    ['pd:1:2:3:4:5', 'padding: Expected at most 4 arguments'],
    ['rot:45', 'rotate: Expected a multiple of 90 but received "45".'],
    ['bg:1:2', 'background: Expected <red>:<green>:<blue> or a hexadecimal colour but received "1:2".'],
    ['bg:1:2:256', 'background: Expected an integer from 0 to 255'],
    ['bg:ffffff80', 'background: Expected a colour'],
    ['bl:101', 'blur: Expected a number from 0 to 100'],
    ['sh:10.5', 'sharpen: Expected a number from 0 to 10'],
    ['pix:-1', 'pixelate: Expected an integer'],
    ['wm:1.1', 'watermark: Expected a number from 0 to 1'],
    ['wm:', 'watermark: Expected a number from 0 to 1'],
    ['wm:1:sm', 'watermark: Expected one of'],
    ['wm:1:ce:0:0:3', 'watermark: Expected a number from 0 to 2'],
    ['q:101', 'quality: Expected an integer from 0 to 100'],
    ['fq:jpg', 'format_quality: Expected an integer from 0 to 100 but received "".'],
    ['fq:doc:1', 'format_quality: Expected one of'],
    ['mb:-1', 'max_bytes: Expected an integer'],
    ['f:JPG', 'format: Expected one of'],
    ['f:', 'format: Expected one of'],
    ['skp:jpg:doc', 'skip_processing: Expected one of'],
    ['exp:soon', 'expires: Expected an integer'],
    ['fn:%E4', 'filename: Expected percent-encoded UTF-8'],
    ['fn:a%0Ab', 'filename: Expected no control characters'],
    ['fn:a+b:1', 'filename: Expected URL-safe base64 of UTF-8'],
    [`fn:${'a'.repeat(201)}`, 'filename: Expected at most 200 characters'],
    ['car:1.5', 'car: The option crop_aspect_ratio is a feature of imgproxy Pro'],
    ['autoquality:size', 'autoquality: The option autoquality is a feature of imgproxy Pro'],
    ['pr:missing', 'preset: Expected the name of a preset but received "missing".'],
    ['pr:constructor', 'preset: Expected the name of a preset'],
    [Array(501).fill('w:1').join('/'), 'Expected at most 500 arguments of options'],
  ])('%s is refused with what is expected', (options, message) => {
    expect(errorOf(() => specOf(options))).toMatchObject({ status: 400, message: expect.stringContaining(message) });
  });

  it('do not repeat long arguments in errors', () => {
    expect(errorOf(() => specOf(`w:${'9'.repeat(4_000)}`)).message.length).toBeLessThan(150);
    expect(errorOf(() => specOf(`${'x'.repeat(4_000)}:1`)).message.length).toBeLessThan(400);
  });

  it('make the URL expire', () => {
    expect(specOf('exp:1000', { now: 1000 }).expires).toBe(1000);
    expect(errorOf(() => specOf('exp:1000', { now: 1001 }))).toMatchObject({
      status: 404,
      message: 'The URL has expired.',
    });
  });

  it.each(['max_src_resolution:1', 'msfs:1', 'maf:1', 'max_animation_frame_resolution:1', 'mrd:1'])(
    'do not include %s unless the key allows it',
    (options) => {
      expect(errorOf(() => specOf(options))).toMatchObject({ status: 403 });
    },
  );

  it('lower limits if the key allows it, but never raise them', () => {
    const limits = {
      maxSrcResolution: 20_000_000,
      maxSrcFileSize: 0,
      maxAnimationFrames: 50,
      maxAnimationFrameResolution: 0,
      maxResultDimension: 4_000,
    };
    const settings = { securityOptions: true, limits };

    expect(specOf('msr:1.5/msfs:1000/maf:10/mafr:0.25/mrd:300', settings).limits).toEqual({
      maxSrcResolution: 1_500_000,
      maxSrcFileSize: 1000,
      maxAnimationFrames: 10,
      maxAnimationFrameResolution: 250_000,
      maxResultDimension: 300,
    });
    expect(specOf('msr:0/msfs:0/maf:0/mafr:0/mrd:0', settings).limits).toEqual(limits);
    for (const option of ['msr:21', 'maf:51', 'mrd:4001'])
      expect(errorOf(() => specOf(option, settings))).toMatchObject({ status: 400 });
  });
});

describe('the presets of a path', () => {
  const presets = {
    small: 'w:100/q:50',
    sharp: 'sh:1/pr:small',
    circle: 'pr:circle:small/h:5',
  };

  it('apply where they are, and their names are returned', () => {
    expect(parsePath(`/q:90/pr:sharp:circle/w:7/plain/${source}`, { presets })).toEqual({
      source,
      spec: picture({ resize: { width: 7, height: 5 }, quality: 50, sharpen: 1 }),
      options: ['quality', 'preset', 'width'],
      presets: ['sharp', 'small', 'circle', 'small'],
    });
  });

  it('include the one named default before all options', () => {
    const settings = { presets: { ...presets, default: 'q:10/h:20' } };

    expect(parsePath(`/q:90/plain/${source}`, settings)).toEqual({
      source,
      spec: picture({ resize: { height: 20 }, quality: 90 }),
      options: ['quality'],
      presets: ['default'],
    });
  });

  it('are the only options of a presets-only key', () => {
    const settings = { presets, presetsOnly: true };
    const spec = picture({ resize: { width: 100, height: 5 }, quality: 50, format: 'png' });

    expect(parsePath(`/small:circle/plain/${source}@png`, settings)).toMatchObject({ source, spec });
    expect(parsePath(`/small:circle/${encoded}.png`, settings)).toMatchObject({ source, spec });
    for (const path of [`/w:5/plain/${source}`, `/plain/${source}`, `/small:w:5/${encoded}`, `/small:/${encoded}`])
      expect(errorOf(() => parsePath(path, settings)).message).toContain('preset: Expected the name of a preset');
    expect(errorOf(() => parsePath('/small', settings))).toMatchObject({ status: 404 });
    expect(errorOf(() => parsePath(`/small/w:5/plain/${source}`, settings))).toMatchObject({ status: 400 });
  });

  it('cannot multiply', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_value, index) => [`p${index}`, `pr:p${index + 1}:p${index + 1}`]),
    );

    expect(errorOf(() => specOf('pr:p0', { presets: { ...doubling, p40: 'w:1' } }))).toMatchObject({ status: 400 });
  });

  it('are checked by definition', () => {
    checkPresets(presets);
    checkPresets({ default: 'rs:fill:1:1' });
    const refused: [Record<string, string>, string][] = [
      [{ a: 'w:x' }, 'presets.a: width: Expected an integer from 0 to 16384 but received "x".'],
      [{ a: '' }, 'presets.a: preset: Expected options of the form <name>:<arguments>, joined by slashes'],
      [{ a: 'w:1/' }, 'presets.a: preset: Expected options'],
      [{ a: 'w:1/plain/http://a' }, 'presets.a: preset: Expected options'],
      [{ a: 'pr:b' }, 'presets.a: preset: Expected the name of a preset but received "b".'],
      [{ 'a:b': 'w:1' }, 'presets: Expected names of 1 to 64 letters, digits, dots, dashes and underscores'],
    ];
    for (const [definitions, message] of refused)
      expect(errorOf(() => checkPresets(definitions)).message).toContain(message);
  });
});

describe('any path', () => {
  const names = [
    'rs',
    's',
    'w',
    'g',
    'c',
    't',
    'pd',
    'bg',
    'wm',
    'fq',
    'skp',
    'exp',
    'fn',
    'pr',
    'z',
    'rot',
    'msr',
    'f',
  ];
  const argument = fc.oneof(
    fc.constantFrom('', '0', '1', '-1', '0.5', '1e9', 'fill', 'sm', 'fp', 'no', 'jpg', 'ff0', 't', 'small', '%41', '%'),
    fc.double().map(String),
    fc.integer().map(String),
    fc.string({ maxLength: 8 }),
  );
  const option = fc
    .tuple(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 4 })), fc.array(argument, { maxLength: 9 }))
    .map(([name, args]) => [name, ...args].join(':'));
  const end = fc.oneof(
    fc.webUrl().map((url) => `plain/${encodeURIComponent(url)}`),
    fc.webUrl().map((url) => `plain/${url}`),
    fc.webUrl().map((url) => Buffer.from(url).toString('base64url')),
    fc.string({ unit: 'binary' }),
  );
  const path = fc
    .tuple(fc.array(option, { maxLength: 12 }), end, fc.constantFrom('', '.png', '@webp', '.', '@', '%'))
    .map(([options, source, extension]) => `/sig/${[...options, source].join('/')}${extension}`);
  const settings = fc.record({
    presets: fc.constant({ small: 'w:100/pr:sharp', sharp: 'sh:1/pr:small:small' }),
    presetsOnly: fc.boolean(),
    securityOptions: fc.boolean(),
  });

  function parsesOrRefuses(raw: string, choices: Partial<PathSettings>): void {
    let parsed: ReturnType<typeof parsePath>;
    try {
      parsed = parsePath(splitPath(raw).path, choices);
    } catch (error) {
      expect(error).toBeInstanceOf(HttpError);
      expect(error).toMatchObject({ status: expect.toSatisfy((status) => [400, 403, 404, 413].includes(status)) });
      return;
    }
    expect(parsed.source).not.toBe('');
    // It must survive the way to the engine.
    expect(JSON.parse(JSON.stringify(parsed))).toEqual(parsed);
  }

  it('of options either parses into JSON or throws an HttpError', () => {
    fc.assert(fc.property(path, settings, parsesOrRefuses), { numRuns: 2_000 });
  });

  it('of garbage either parses into JSON or throws an HttpError', () => {
    const garbage = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'/:%.@=-1w') }),
    );
    fc.assert(
      fc.property(garbage, settings, (text, choices) => {
        parsesOrRefuses(text, choices);
        parsesOrRefuses(`/sig/${text}`, choices);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['/', ''],
    [':', ''],
    ['=', 'x'],
    ['%', ''],
    ['%3A', ''],
    ['1', ':'],
    ['w:1/', ''],
    ['a/', ''],
    ['@', ''],
    ['.', ''],
    ['pr:small:', ''],
    ['/plain/', ''],
    ['a:/', ''],
    ['w:1.1e', ''],
  ])('of %j repeated to the limit takes less than a second', (unit, last) => {
    const text = unit.repeat(Math.floor(8_180 / unit.length)) + last;
    const before = process.cpuUsage();
    for (const raw of [`/sig/${text}`, `/sig/w:${text}`, `/sig/plain/${text}`, `/sig/fn:${text}:1/x`])
      parsesOrRefuses(raw, { presets: { small: 'w:1' } });
    // Processor time, because other programs run too.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});

function sized(changes: Changes = {}): Changes {
  return { resize: { type: 'fill', width: 1, height: 2, enlarge: true }, ...changes };
}

function croppedAt(crop: 'so' | 'no', gravity: 'no'): Changes {
  return {
    gravity: { type: gravity, x: 0, y: 0 },
    crop: { width: 1, height: 2, gravity: { type: crop, x: 0, y: 0 } },
  };
}
