import { required } from '../../../shared/settings.ts';

/** Returns the name of the cookie that holds the id of a session. */
export function sessionCookie(): string {
  return isSecure() ? '__Host-lathe' : 'lathe_session';
}

/** Returns the name of the cookie that identifies the browser during a sign-in. */
export function attemptCookie(): string {
  return isSecure() ? '__Host-lathe-sign-in' : 'lathe_sign_in';
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

/** Returns whether this deployment has TLS, which browsers require for the prefix __Host-. */
function isSecure(): boolean {
  return required('LATHE_URL').startsWith('https:');
}
