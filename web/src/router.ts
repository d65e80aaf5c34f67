import { signal } from '@preact/signals';
import { isPagePath } from '../pages.ts';

/** The path that is shown. */
export const path = signal(location.pathname);

/** Shows another path of the page. */
export function go(to: string): void {
  history.pushState(null, '', to);
  path.value = to;
  scrollTo(0, 0);
  // Otherwise a screen reader stays silent, and the keyboard in what is gone.
  document.querySelector<HTMLElement>('main')?.focus();
}

/** Keeps links within the page from loading it again, unless they are to open elsewhere. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    path.value = location.pathname;
  });
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || !isPlain || link.hasAttribute('download') || link.target !== '') return;
    const { origin, pathname, hash } = new URL(link.href);
    if (origin !== location.origin || !isPagePath(pathname) || hash !== '') return;
    event.preventDefault();
    go(pathname);
  });
}
