interface Content {
  title: string;
  text: string;
  /** The target of its button. */
  link: { href: string; text: string };
}

/** Headers of such pages: nothing but their style sheet and the icon is loaded. */
export const plainPageHeaders: Record<string, string> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Returns an HTML document without scripts. Its style sheet keeps its name, unlike the files of the page's build. */
export function plainPage({ title, text, link }: Content): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – Lathe</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/plain.css">
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
