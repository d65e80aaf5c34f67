import { components as shared } from '../runtime/components.ts';

/** Components of the web page engine. */
export const components = {
  sharp: shared.sharp,
  chromium: { label: 'Chromium', apt: ['chromium-headless-shell'], brew: ['google-chrome'] },
};

/** Returns the components of every pair: the browser, and libvips for screenshots. */
export function requires(): (keyof typeof components)[] {
  return ['sharp', 'chromium'];
}
