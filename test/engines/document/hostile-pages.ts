import { writeFile } from 'node:fs/promises';
import type { Canary, HostileDocument } from './hostile-documents.ts';
import { reachingSvg } from './hostile-pictures.ts';

const cell = '<tr><td>x</td></tr></table>';

/** Spellings of an attribute that a lax reader takes for one, and that other readers overlook. */
const attributes: Record<string, (target: string) => string> = {
  'a semicolon before an attribute': (to) => `<table ;background="${to}">${cell}`,
  'a comma before an attribute': (to) => `<table ,background="${to}">${cell}`,
  'a slash before an attribute': (to) => `<table/background="${to}">${cell}`,
  'a quote before an attribute': (to) => `<table class="a"background="${to}">${cell}`,
  'a lone quote before an attribute': (to) => `<table " background="${to}">${cell}`,
  'an equals sign before an attribute': (to) => `<table =background="${to}">${cell}`,
  'control characters around an attribute': (to) => `<table\u000b\u0001background\u000c=\u000b"${to}">${cell}`,
  'capital letters': (to) => `<TABLE BACKGROUND=${to}>${cell}`,
  'an attribute given twice': (to) => `<table background="data:image/png;base64,AA==" background="${to}">${cell}`,
  'line breaks in an address': (to) => `<table background="${to.slice(0, 3)}\n${to.slice(3)}">${cell}`,
  'an address in entities': (to) =>
    `<table background="${[...to].map((letter) => `&#${letter.charCodeAt(0)};`).join('')}">${cell}`,
  'a tag that never ends': (to) => `<p>x</p><table background="${to}"`,
  'a quote that never ends': (to) => `<table title="a background=${to}>${cell}`,
};

/** Places in which readers differ on whether markup is markup. */
const places: Record<string, (markup: string) => string> = {
  'a comment that ends at once': (markup) => `<!-->${markup}-->`,
  'a comment with a dash too few': (markup) => `<!-- -- >${markup}<!-- -->`,
  'a comment that never ends': (markup) => `<p>x</p><!-- a ${markup}`,
  'a conditional comment': (markup) => `<!--[if gte mso 9]>${markup}<![endif]--><![if !mso]>${markup}<![endif]>`,
  'a CDATA section': (markup) => `<![CDATA[${markup}]]>`,
  'a processing instruction': (markup) => `<?x ${markup} ?>`,
  'a title': (markup) => `<title>${markup}</title>`,
  'a script': (markup) => `<script><!-- ${markup} //--></script><script/>${markup}`,
  'a style sheet': (markup) => `<style>${markup}</style><style/>${markup}`,
  'a text field': (markup) => `<textarea>${markup}</textarea><listing>${markup}</listing><xmp>${markup}</xmp>`,
  'a frame': (markup) =>
    `<iframe>${markup}</iframe><noframes>${markup}</noframes><noscript>${markup}</noscript><noembed>${markup}</noembed>`,
  'SVG and MathML': (markup) => `<svg><style>${markup}</style></svg><math><mi>${markup}</mi></math>`,
  'an attribute': (markup) => `<p title='${markup}'>x</p><p title=">${markup}">x</p>`,
  'plain text': (markup) => `<plaintext>${markup}`,
};

/** Style sheets that load by other spellings. */
const styles: Record<string, (target: string) => string> = {
  'an escaped url': (to) => `p { background: \\75 rl(${to}) } td { background-image: u\\rl("${to}") }`,
  'a url in odd spacing': (to) => `p { background: url (\t"${to}" ) } td { background: URL(\n${to}) }`,
  'a string that ends early': (to) => `p { font-family: "a\\"; background: url(${to}); x: "b" }`,
  'a comment inside': (to) => `p { background: ur/**/l(${to}); background-image: url(/**/${to}) }`,
  imports: (to) => `@import "${to}"; @\\69mport url(${to}); <!-- @import '${to}'; -->`,
  'other functions': (to) =>
    `p { background: image-set("${to}" 1x); list-style-image: src("${to}"); content: image("${to}") } @font-face { font-family: f; src: url(${to}) }`,
};

const page = (body: string) => `<html><head><meta charset="utf-8"></head><body><p>Body</p>${body}</body></html>`;

function document(name: string, body: (target: string, canary: Canary) => string): HostileDocument {
  return {
    name: `a web page with ${name}`,
    format: 'html',
    make: (path, canary) =>
      writeFile(
        path,
        page(
          [`file://${canary.picture}`, `${canary.url}/page.png`, canary.picture, `file://${canary.text}`]
            .map((target) => body(target, canary))
            .join('\n'),
        ),
      ),
  };
}

/** Web pages that load by everything in which LibreOffice's reader is laxer than the standard. */
export const hostilePages: HostileDocument[] = [
  ...Object.entries(attributes).map(([name, make]) => document(name, make)),
  ...Object.entries(places).map(([name, make]) =>
    document(`markup in ${name}`, (target) => make(`<table background="${target}">${cell}<img src="${target}">`)),
  ),
  ...Object.entries(styles).map(([name, make]) =>
    document(
      `${name} in its style`,
      (target) =>
        `<style>${make(target)}</style><p style='${make(target).replace(/^p \{|\}.*$/g, '')}'>x</p><table><tr><td>y</td></tr></table>`,
    ),
  ),
  document('an SVG as data', (_target, canary) => {
    const data = Buffer.from(reachingSvg(canary)).toString('base64');
    const uris = [
      `data:image/svg+xml;base64,${data}`,
      `data:image/png;base64,${data}`,
      ` data:;base64,${data}`,
      `data:image/png,${encodeURIComponent(reachingSvg(canary))}`,
    ];
    return uris
      .map(
        (uri) => `<img src="${uri}"><table background="${uri}">${cell}<p style="background:url(${uri.trim()})">x</p>`,
      )
      .join('');
  }),
  document('an SVG in the text', (_target, canary) => reachingSvg(canary)),
  document(
    'a base address',
    (target) =>
      `<base href="${target.replace(/[^/]*$/, '')}"><img src="${target.replace(/^.*\//, '')}"><table background="${target.replace(/^.*\//, '')}">${cell}`,
  ),
  document(
    'frames and objects',
    (target) =>
      `<iframe srcdoc="<img src='${target}'>" src="${target}"></iframe><object data="${target}" type="text/html"><param name="movie" value="${target}"></object><embed src="${target}"><frameset><frame src="${target}"></frameset><applet archive="${target}"></applet><input type=image src="${target}"><link rel=File-List href="${target}"><meta http-equiv=refresh content="0; url=${target}"><marquee background="${target}">x</marquee><ul style="list-style-image:url(${target})"><li src="${target}" style="list-style: url('${target}')">x</ul><hr src="${target}"><img lowsrc="${target}" dynsrc="${target}" srcset="${target} 1x" longdesc="${target}" usemap="${target}"><picture><source srcset="${target}"></picture><video poster="${target}" src="${target}"></video><td background="${target}"><body background="${target}">`,
  ),
];
