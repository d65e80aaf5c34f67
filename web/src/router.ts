import { signal } from '@preact/signals';
import { isPagePath } from '../pages.ts';

/** The current path. */
export const path = signal(location.pathname);

/** Navigates to a path of the page. */
export function go(to: string): void {
  history.pushState(null, '', to);
  path.value = to;
  scrollTo(0, 0);
  // Otherwise screen readers stay silent and focus stays on a removed element.
  document.querySelector<HTMLElement>('main')?.focus();
}

/** Handles links within the page without reloading it, unless they open in another tab. */
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
