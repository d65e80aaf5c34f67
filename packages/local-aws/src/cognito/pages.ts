/** Returns the page that asks the user to confirm the sign-in. */
export function continuePage(email: string): string {
  return page(
    'Sign in to Lathe',
    `<p>This is the development sign-in of the stack on this machine. It asks for no password.</p>
<form method="post"><button autofocus>Continue as ${escaped(email)}</button></form>`,
  );
}

/** Returns the page that confirms a sign-out. The form comes from the provider. */
export function signOutPage(form: string): string {
  return page(
    'Sign out of Lathe',
    `${form}\n<button autofocus form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
  );
}

/** Returns an error page. */
export function errorPage(text: string): string {
  return page('Sign-in failed', `<p>${escaped(text)}</p>`);
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 26rem; margin: 20vh auto 0; padding: 0 1rem; }
  button { font: inherit; padding: 0.5rem 1rem; cursor: pointer; }
</style>
<h1>${title}</h1>
${content}
</html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
