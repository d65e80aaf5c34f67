import { describe, expect, test, vi } from 'vitest';
import { attemptCookie, readCookie, sessionCookie, writeCookie } from '../../../functions/api/http/cookies.ts';

describe('cookies', () => {
  test('belong to this host alone and travel by TLS, where there is TLS', () => {
    vi.stubEnv('LATHE_URL', 'https://api.example.com');
    expect([sessionCookie(), attemptCookie()]).toEqual(['__Host-lathe', '__Host-lathe-sign-in']);
    expect(writeCookie(sessionCookie(), 'id', 60)).toBe(
      '__Host-lathe=id; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure',
    );
  });

  test('have other names on this machine, where browsers refuse the prefix', () => {
    vi.stubEnv('LATHE_URL', 'http://localhost:3000');
    expect([sessionCookie(), attemptCookie()]).toEqual(['lathe_session', 'lathe_sign_in']);
    expect(writeCookie(sessionCookie(), 'id', 60)).toBe('lathe_session=id; Path=/; HttpOnly; SameSite=Lax; Max-Age=60');
  });

  test('are found by their whole name', () => {
    const cookies = ['a=1', 'my_lathe_session=no', 'lathe_session_2=no', 'lathe_session=yes=1'];
    expect(readCookie(cookies, 'lathe_session')).toBe('yes=1');
    expect(readCookie(['lathe_session='], 'lathe_session')).toBeUndefined();
    expect(readCookie(undefined, 'lathe_session')).toBeUndefined();
  });
});
