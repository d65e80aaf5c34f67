import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zipOf } from '../../../functions/engines/document/guards/containers.ts';
import { decodeXml, defuseMarkup } from '../../../functions/engines/document/guards/defuse.ts';
import { defuseContent } from '../../../functions/engines/document/guards/defuse-content.ts';
import { defuseCss } from '../../../functions/engines/document/guards/defuse-css.ts';
import { defuseHtml } from '../../../functions/engines/document/guards/defuse-html.ts';
import { Inspection } from '../../../functions/engines/document/guards/inspection.ts';
import { MarkupGuard } from '../../../functions/engines/document/guards/markup-guard.ts';
import { hostilePages } from '../../engines/document/hostile-pages.ts';
import { emfAround, nestedSvg, reachingSvg } from '../../engines/document/hostile-pictures.ts';

const canary = { text: '/canary/text.txt', picture: '/canary/picture.png', url: 'http://canary.test' };
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);
const cleanSvg = '<svg xmlns="http://www.w3.org/2000/svg"><rect fill="url(#a)" width="9" height="9"/></svg>';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'defuse-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Attributes that are only shown, if at all. */
const shown = ['title', 'alt', 'content', 'style'];

/** What a reader of the page could load: values of attributes, and the pictures in them decoded. */
function loadable(page: string): string {
  const tags = page.match(/<[^>]*>?/g) ?? [];
  const values = tags.flatMap((tag) => {
    const attributes = [...tag.matchAll(/ ([\w:-]+)="([^"]*)"/g)];
    const rest = tag.replaceAll(/ [\w:-]+="[^"]*"/g, '');
    return [rest, ...attributes.filter(([, name = '']) => !shown.includes(name)).map(([, , value = '']) => value)];
  });
  const pictures = [...page.matchAll(/base64,([\w+/=]*)/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  );
  return [...values, ...pictures].join('\n');
}

/** Style sheets and declarations of a page. */
function stylesOf(page: string): string {
  return (page.match(/<style[^>]*>[^<]*| style="[^"]*"/g) ?? []).join('\n');
}

const html = (page: string) => defuseHtml(page, new Inspection());
const declared = '<meta http-equiv="content-type" content="text/html; charset=utf-8">';

describe('pages', () => {
  it.each(hostilePages)('leaves nothing to load in $name', async ({ make }) => {
    const path = join(folder, 'page.html');
    await make(path, canary);

    const safe = html(await readFile(path, 'utf8'));

    expect(loadable(safe)).not.toMatch(/canary|picture\.png/);
    expect(stylesOf(safe)).not.toMatch(
      /(?:url|src|image|set)\s*\((?!&quot;data:image|"data:image)|@import|\\|<!|\/\*/i,
    );
    expect(safe).toContain('Body');
  });

  it('writes every tag in one spelling, with text that holds no markup', () => {
    expect(
      html(
        `<HTML><Body BGCOLOR=red onload=x()><p ;class=a title='a"b' x=y>1 < 2 &amp; "3"<br/><a href=" https://a.test/?b&c ">x</a>`,
      ),
    ).toBe(
      `<html>${declared}<body bgcolor="red"><p title="a&quot;b">1 &lt; 2 &amp; &quot;3&quot;<br><a href="https://a.test/?b&amp;c">x</a>`,
    );
  });

  it('keeps styles, tables, pictures as data and links that a reader clicks', () => {
    const image = `data:image/png;base64,${png.toString('base64')}`;
    const page = `<head>${declared}<title>A &amp; B</title><style media="print">p > b { color: #123; margin: 0.5em -1px }</style></head><body><table border="1"><tr><td colspan="2" style="font-family: &quot;Liberation Sans&quot;, serif; background: url(&quot;${image}&quot;)"><img src="${image}" alt="x"><a href="#b">c</a></td></tr></table></body>`;

    expect(html(page)).toBe(page);
  });

  it('takes an element without content for empty, as XHTML has it', () => {
    expect(html('<title/><script src="x"/><style/><p>shown</p>')).toContain('<p>shown</p>');
  });

  it('defuses an SVG that is data and reports it', () => {
    const inspection = new Inspection();

    const safe = defuseHtml(
      `<img src="data:image/png;base64,${Buffer.from(cleanSvg).toString('base64')}">`,
      inspection,
    );

    expect(safe).toContain(`data:image/svg+xml;base64,${Buffer.from(cleanSvg).toString('base64')}`);
    expect(inspection.mayReadVectors).toBe(true);
  });
});

describe('style sheets', () => {
  it.each([
    ['url(http://canary.test/a)', 'none'],
    ['URL( "http://canary.test/a" )', 'none'],
    ['\\75 rl(http://canary.test)', 'none'],
    ['url', 'none'],
    ['image-set("http://canary.test" 1x)', 'none'],
    ['-webkit-image-set(url(http://canary.test) 1x, url(b) 2x) red', 'none red'],
    ['ur/**/l', 'ur l'],
    ['@import "http://canary.test"; a', ' a'],
    ['@\\69mport url(http://canary.test); a', ' a'],
    ['"a\\"; b: url(http://canary.test)"', '"a b urlhttpcanary.test"'],
    ['rgb(1, 2, 3) #fff 50% -1.5em', 'rgb(1, 2, 3) #fff 50% -1.5em'],
    [
      '@media print { a > b:hover { color: red !important } }',
      '@media print { a > b:hover { color: red !important } }',
    ],
    ['</style><img src=x>', ' /style> img none=x>'],
  ])('writes %s as %s', (css, safe) => {
    expect(defuseCss(css)).toBe(safe);
  });
});

describe('XML', () => {
  const target = 'file:///canary/a';

  it.each([
    `<draw:image xlink:href="${target}"/>`,
    `<draw:image xlink:href='${target}'/>`,
    `<draw:image a=">" b='"' xlink:href\n=\t"${target}"/>`,
    `<\u00fc\u4e00:image \u00e9:href="${target}"/>`,
    `<draw:image xlink:href="&#102;ile:///canary/a"/>`,
    `<draw:image xlink:href=" &#x9;file:///canary/a"/>`,
    '<draw:image xlink:href="http://canary.test/"/>',
    '<draw:image xlink:href="//canary.test/"/>',
    '<draw:image xlink:href="../../canary"/>',
    '<draw:image xlink:href="vnd.sun.star.expand:$HOME/canary"/>',
    `<form:image form:image-data="${target}"/>`,
    `<v:imagedata src="${target}"/>`,
    `<any:thing any:where="${target}"/>`,
    `<?xml-stylesheet href="${target}"?><a/>`,
    `<![CDATA[<]]><draw:image xlink:href="${target}"/>`,
  ])('leaves no reference in %s', (markup) => {
    const safe = Buffer.from(defuseMarkup(decodeXml(Buffer.from(markup))), 'latin1').toString();

    expect(safe).not.toMatch(/canary/);
  });

  it('keeps references to own parts and links that a reader clicks', () => {
    const markup = `<draw:image xlink:href="Pictures/a.png"/><text:a xlink:href="https://canary.test/"><a:blip r:embed="rId1"/></text:a>`;

    expect(defuseMarkup(markup)).toBe(markup);
  });

  it('reads UTF-16 and refuses four bytes a letter', () => {
    const wide = Buffer.from(`\ufeff<draw:image xlink:href="${target}"/>`, 'utf16le');
    const wider = Buffer.from([...'<a/>'].flatMap((letter) => [0, 0, 0, letter.charCodeAt(0)]));

    expect(defuseMarkup(decodeXml(wide))).not.toMatch(/canary/);
    expect(() => new MarkupGuard().write(wider)).toThrow(/UTF-32/);
    expect(() => new MarkupGuard().write(wider.swap32())).toThrow(/UTF-32/);
  });
});

describe('what documents contain', () => {
  const zipped = (parts: Record<string, string | Buffer>) =>
    zipOf(new Map(Object.entries(parts).map(([name, content]) => [name, Buffer.from(content)])));

  async function inspect(parts: Record<string, string | Buffer>): Promise<{ safe: Buffer; inspection: Inspection }> {
    const inspection = new Inspection();
    return { safe: await defuseContent(await zipped(parts), inspection), inspection };
  }

  it.each([
    ['an SVG', reachingSvg(canary)],
    ['a packed SVG', gzipSync(reachingSvg(canary))],
    ['an SVG in an SVG', nestedSvg(canary)],
    ['an SVG in UTF-16', Buffer.from(`\ufeff${reachingSvg(canary)}`, 'utf16le')],
    ['an SVG after a long comment', `<!--${'-x'.repeat(1000)}-->${reachingSvg(canary)}`],
    ['an SVG with entities', `<!DOCTYPE svg [<!ENTITY e "&#60;image href='file:///canary'/>">]>${cleanSvg}`],
  ])('defuses %s by whatever name', async (_, content) => {
    const inspection = new Inspection();

    const safe = await defuseContent(Buffer.from(content), inspection);

    expect(safe.toString('latin1').replaceAll('\0', '')).not.toMatch(/canary|base64/);
    expect(inspection.mayReadVectors).toBe(true);
  });

  it('defuses documents in documents in documents', async () => {
    const inner = await zipped({
      'a.dat': reachingSvg(canary),
      'b.xml': '<a href="file:///canary"/><b src="file:///canary"/>',
    });

    const { safe, inspection } = await inspect({ 'x.bin': await zipped({ 'y.docx': inner }) });

    const direct = await defuseContent(inner, new Inspection());
    expect(safe.equals(await zipped({ 'x.bin': await zipped({ 'y.docx': inner }) }))).toBe(false);
    expect(direct.equals(inner)).toBe(false);
    expect(inspection.vectors).toBe(true);
  });

  it('refuses documents nested beyond reason', async () => {
    let bytes = await zipped({ 'a.txt': 'x' });
    for (let level = 0; level < 5; level++) bytes = await zipped({ 'a.zip': bytes });

    await expect(defuseContent(bytes, new Inspection())).rejects.toThrow(/levels deep/);
  });

  it('refuses an entity bomb in a document inside', async () => {
    await expect(
      inspect({ 'a.docx': await zipped({ 'b.xml': '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' }) }),
    ).rejects.toThrow(/declares XML entities/);
  });

  it.each([
    ['a compound file', { 'o.bin': Buffer.from('d0cf11e0a1b11ae1', 'hex') }],
    ['a metafile with pictures inside', { 'p.png': emfAround(Buffer.from(reachingSvg(canary))) }],
    ['a packed metafile', { 'p.emz': gzipSync(emfAround(png)) }],
    ['rich text', { 'c.dat': '{\\rtf1 x}' }],
    ['encrypted parts', { 'META-INF/manifest.xml': '<m:file-entry><m:encryption-data/></m:file-entry>' }],
    ['base64 in pieces', { 'f.xml': '<a><office:binary-data>AA<!-- -->AA</office:binary-data></a>' }],
  ])('does not allow SVGs in a document with %s', async (_, parts) => {
    const { inspection } = await inspect({ 'v.svg': cleanSvg, ...parts });

    expect(inspection.vectors).toBe(true);
    expect(inspection.mayReadVectors).toBe(false);
  });

  it('replaces SVGs that may not be read by an empty picture', async () => {
    const inspection = new Inspection();
    let safe = Buffer.alloc(0);

    await inspection.settle(async () => {
      inspection.opaque = true;
      safe = Buffer.from(await defuseContent(Buffer.from(cleanSvg), inspection));
    });

    expect(safe.toString('latin1', 1, 4)).toBe('PNG');
  });

  it('allows SVGs in a document with pictures and markup', async () => {
    const { inspection } = await inspect({ 'v.svg': cleanSvg, 'p.png': png, 'd.xml': '<a/>' });

    expect(inspection.mayReadVectors).toBe(true);
  });
});
