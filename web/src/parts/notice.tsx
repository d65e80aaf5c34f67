import type { ComponentChildren } from 'preact';
import { signIn } from '../service/session.ts';

/** Shows an error, with a button to try again if `retry` is given. */
export function Problem({ text, retry }: { text: string; retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{text}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shows that there is no content yet, and how to get some. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Asks the user to sign in. */
export function SignInFirst({ to }: { to: string }) {
  return (
    <div class="card empty">
      <h1>Sign in {to}</h1>
      <p>Your conversions are private to your account.</p>
      <button type="button" class="main" onClick={signIn}>
        Sign in
      </button>
    </div>
  );
}
