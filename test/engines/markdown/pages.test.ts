import { describe, expect, test } from 'vitest';
import { convert, markdown, zip } from './harness.ts';

const page = (body: string) =>
  `<!doctype html><html><head><title>T</title><style>p{}</style></head><body>${body}</body></html>`;

describe('a web page', () => {
  test.each([
    ['nested lists', '<ul><li>a<ul><li>b<ol start="3"><li>c</ol></ul><li>d</ul>', '- a\n  - b\n\n    3. c\n- d'],
    [
      'tasks',
      '<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>',
      '- [x] done\n- [ ] open',
    ],
    ['definitions', '<dl><dt>Term<dd>Meaning</dl>', '- **Term**\n\n  Meaning'],
    [
      'code',
      '<pre><code class="language-js">if (a &lt; b) {\n  `x`\n}</code></pre>',
      '```js\nif (a < b) {\n  `x`\n}\n```',
    ],
    [
      'spans',
      '<table><tr><th rowspan=2>a<th>b<tr><td>c</table>',
      '<table>\n<tr><th rowspan="2">a</th><th>b</th></tr>\n<tr><td>c</td></tr>\n</table>',
    ],
    [
      'tables',
      '<table><caption>Cap</caption><tr><th>a<th>b<tr><td>1<br>2<td><b>3</b></table>',
      'Cap\n\n| a | b |\n|---|---|\n| 1<br>2 | **3** |',
    ],
    ['layout in tables', '<table><tr><td><h2>A</h2><p>b</p></td></tr></table>', '## A\n\nb'],
    ['emphasis around spaces', '<p>a<b> b </b>c <i>d</i>', 'a **b** c *d*'],
    [
      'formulas',
      '<p>x <math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math>',
      'x $\\frac{a}{b^{2}}$',
    ],
    [
      'addresses',
      '<p><a href="https://a.example/b(c)">x</a> <a href="#top">y</a>',
      '[x](https://a.example/b%28c%29) y',
    ],
    ['pictures elsewhere', '<p><img src="https://a.example/b.png" alt="A b">', '[A b](https://a.example/b.png)'],
    ['lines', '<p>a<br>b<p>1. c<p>- d', 'a\\\nb\n\n1\\. c\n\n\\- d'],
    ['hidden parts', '<nav>n</nav><p hidden>h</p><p style="display:none">i</p><p>shown', 'shown'],
    [
      'characters of Markdown',
      '<p>*a* _b_ c_d `e` ~~f~~ $1 and $2',
      '\\*a\\* \\_b\\_ c_d \\`e\\` \\~\\~f\\~\\~ \\$1 and \\$2',
    ],
  ])('has its %s', async (_name, body, expected) => {
    expect(await markdown('a.html', page(body))).toBe(`${expected}\n`);
  });

  test('becomes harmless Markdown', async () => {
    const attacks = `<script>alert(1)</script><p onclick="x()">&lt;img src=x onerror=alert(1)&gt;
      <a href="javascript:alert(1)">a</a><a href="java&#9;script:alert(1)">b</a><a href="data:text/html,x">c</a>
      <img src="file:///etc/passwd" alt="d&quot;><script>"><iframe src="http://a"></iframe><svg onload="x"><text>s</text></svg>
      <table><tr><td colspan=2>&lt;script&gt;<tr><td><a href='https://x/"onx="'>l</a><td>2</table>`;
    const text = await markdown('a.html', page(attacks));
    expect(text).not.toMatch(/javascript|data:text|passwd|(?<!\\)<script|onerror=alert\(1\)>(?<!\\<img.*)|" ?onx/);
    expect(text).toContain('\\<img src=x onerror=alert(1)>');
    expect(text).toContain('&lt;script&gt;');
  });

  test('that nests without end is refused', async () => {
    await expect(convert('a.html', page('<div>'.repeat(5_000)))).rejects.toThrow('deep');
    await expect(convert('a.html', page('<x>'.repeat(5_000)))).rejects.toThrow('deep');
    await expect(convert('a.html', page(''))).rejects.toThrow('no text');
  });
});

describe('a book', () => {
  const book = (pages: Record<string, string>) =>
    zip({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="b/c.opf"/></rootfiles></container>',
      'b/c.opf': `<package><metadata><dc:title>Title</dc:title></metadata><manifest>${Object.keys(pages)
        .map((name, index) => `<item id="i${index}" href="${name}"/>`)
        .join('')}</manifest><spine>${Object.keys(pages)
        .map((_, index) => `<itemref idref="i${index}"/>`)
        .join('')}</spine></package>`,
      ...Object.fromEntries(
        Object.entries(pages).map(([name, text]) => [`b/${name}`, `<html><body>${text}</body></html>`]),
      ),
    });

  test('has its pages in order, and notes from other pages', async () => {
    const made = await book({
      'two.xhtml': '<h1><a id="x"/>Two</h1><p>Text<a epub:type="noteref" href="notes.xhtml#n1">1</a></p>',
      'one.xhtml': '<h1>One</h1>',
      'notes.xhtml': '<aside epub:type="footnote" id="n1"><p>A note</p></aside>',
    });
    expect(await markdown('a.epub', made)).toBe('# Two\n\nText[^1]\n\n# One\n\n[^1]: A note\n');
  });

  test('does not reach outside of itself', async () => {
    const made = await book({
      'one.xhtml': '<p>x<img src="../../../../etc/passwd" alt="p"/><img src="file:///etc/passwd"/></p>',
    });
    const { text, files } = await convert('a.epub', made);
    expect([text, files]).toEqual(['x*[p]*\n', {}]);
  });
});
