import { components as shared } from '../runtime/components.ts';

/** What the engine of web pages is made of. */
export const components = {
  sharp: shared.sharp,
  chromium: { label: 'Chromium', apt: ['chromium'], brew: ['google-chrome'] },
};

/** Names what every pair needs: the browser, and libvips for what it took a picture of. */
export function requires(): (keyof typeof components)[] {
  return ['sharp', 'chromium'];
}
