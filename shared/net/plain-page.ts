import { createHash } from 'node:crypto';

/** The colours and sizes of the page; see web/src/style.css. The names of its files change with each build. */
const style = `:root{color-scheme:light dark;--accent:light-dark(#ad430d,#ff9d66);--on-accent:light-dark(#fff,#2b1204)}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:light-dark(#faf9f7,#16150f);color:light-dark(#221f1a,#f0ede6);font:100%/1.5 system-ui,sans-serif}
main{max-width:34rem;padding:2rem 1.5rem;text-align:center;overflow-wrap:anywhere}
img{width:3.5rem;height:3.5rem}
h1{font-size:1.75rem;line-height:1.2;margin:1rem 0 .5rem}
p{margin:0 0 1.5rem;color:light-dark(#5f5a51,#b3ada0)}
a{display:inline-block;padding:.5rem 1.25rem;border-radius:.5rem;background:var(--accent);color:var(--on-accent);font-weight:600;text-decoration:none}
a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`;

interface Content {
  title: string;
  text: string;
  /** Where its button leads. */
  link: { href: string; text: string };
}

/** Headers of such pages: nothing but their own style and the icon is loaded. */
export const plainPageHeaders: Record<string, string> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Returns an HTML document that needs no other file of the page. */
export function plainPage({ title, text, link }: Content): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – Lathe</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<main>
<img src="/favicon.svg" alt="">
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
<a href="${escaped(link.href)}">${escaped(link.text)}</a>
</main>
</body>
</html>
`;
}

/** The page for addresses that do not exist. */
export const notFoundPage: string = plainPage({
  title: 'Page not found',
  text: 'There is no page at this address. It may have been mistyped, or the link may be out of date.',
  link: { href: '/', text: 'Convert files' },
});

/** Returns whether a client prefers a page to JSON: browsers list HTML when a person opens a URL, programs do not. */
export function acceptsPages(method: string, accept: string | undefined): boolean {
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(accept ?? '');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
