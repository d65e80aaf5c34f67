import { AddressRefused, checkUrl, parseAllowHosts } from '../../../../shared/net/addresses.ts';
import { invalidFields } from '../../http/errors.ts';

/** Throws the 400 for a webhook URL with a forbidden address. Resolved addresses are checked at each call. */
export function checkWebhookUrl(url: string, field: string): void {
  try {
    checkUrl(new URL(url), parseAllowHosts(process.env.LATHE_ALLOW_HOSTS));
  } catch (error) {
    if (error instanceof AddressRefused) throw invalidFields({ [field]: [error.message] }, 'address_refused');
    throw error;
  }
}
