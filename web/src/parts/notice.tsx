import type { ComponentChildren } from 'preact';
import { signIn } from '../service/session.ts';

/** Shows what went wrong, and what to do about it. */
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

/** Says that there is nothing, and how there would be something. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Asks for a sign-in, for what needs one. */
export function SignInFirst({ to }: { to: string }) {
  return (
    <div class="card empty">
      <h1>Sign in {to}</h1>
      <p>Everything you convert belongs to your account.</p>
      <button type="button" class="main" onClick={signIn}>
        Sign in
      </button>
    </div>
  );
}
