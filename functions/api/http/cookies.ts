import { required } from '../../../shared/settings.ts';

/** The names of a cookie with and without TLS. Browsers require TLS for the prefix. */
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

/** Returns the name of the cookie that identifies the browser during a sign-in. */
export function attemptCookie(): string {
  return nameOf(attempt);
}

/** Returns the value of a cookie in a request. */
export function readCookie(cookies: readonly string[] | undefined, name: string): string | undefined {
  const found = cookies?.find((cookie) => cookie.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}

/** Returns a Set-Cookie value. Scripts cannot read the cookie, and other sites only send it by links (SameSite=Lax). */
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
