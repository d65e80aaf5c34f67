import { endpoint } from '../http/endpoint.ts';
import { listImageKeys } from '../pictures/image-keys.ts';
import { routes } from '../routes.ts';
import { presentImageKey } from './present-image-key.ts';

export const handler = endpoint(routes['image-key-list'], async ({ account }) => ({
  body: { docs: (await listImageKeys(account.user)).map(presentImageKey) },
}));
