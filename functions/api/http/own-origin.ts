import { required } from '../../../shared/settings.ts';
import { HttpError } from './errors.ts';

/** Throws the 403 for a request from a page of another site. */
export function requireOwnOrigin({ origin }: Record<string, string | undefined>): void {
  const own = new URL(required('LATHE_URL')).origin;
  if (origin === undefined || origin === own) return;
  const msg = `Expected Origin ${own} but received ${origin.slice(0, 200)}.`;
  throw new HttpError(403, 'forbidden', msg);
}
