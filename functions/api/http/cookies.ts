import { required } from '../../../shared/settings.ts';

/** A cookie of the service: its name here, and on a host without TLS, where browsers refuse the prefix. */
interface CookieName {
  secure: `__Host-${string}`;
  plain: string;
}

const session: CookieName = { secure: '__Host-lathe', plain: 'lathe_session' };
const attempt: CookieName = { secure: '__Host-lathe-sign-in', plain: 'lathe_sign_in' };

/** Returns the name of the cookie that holds the id of a session. */
export function sessionCookie(): string {
  return nameOf(session);
}

/** Returns the name of the cookie that tells the browser in which a sign-in was begun. */
export function attemptCookie(): string {
  return nameOf(attempt);
}

/** Returns the value of a cookie of a request. */
export function readCookie(cookies: readonly string[] | undefined, name: string): string | undefined {
  const found = cookies?.find((cookie) => cookie.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}

/** Writes a cookie that only the service reads, in its own pages and when a link leads to it. */
export function writeCookie(name: string, value: string, seconds: number): string {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', `Max-Age=${seconds}`, ...(isSecure() ? ['Secure'] : [])];
  return [`${name}=${value}`, ...attributes].join('; ');
}

function nameOf({ secure, plain }: CookieName): string {
  return isSecure() ? secure : plain;
}

function isSecure(): boolean {
  return required('LATHE_URL').startsWith('https:');
}
