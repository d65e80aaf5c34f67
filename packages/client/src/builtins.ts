interface Builtins {
  'node:fs': typeof import('node:fs');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:path': typeof import('node:path');
  'node:stream': typeof import('node:stream');
  'node:url': typeof import('node:url');
}

/** Returns a Node module, or undefined in browsers, which cannot import it. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const { process: node }: { fetch: unknown; process?: { getBuiltinModule?(id: Name): Builtins[Name] } } = globalThis;
  return node?.getBuiltinModule?.(name);
}

/** Returns a Node module, or throws an error that names the purpose. */
export function requiredBuiltin<Name extends keyof Builtins>(name: Name, purpose: string): Builtins[Name] {
  const found = builtin(name);
  if (!found) throw new TypeError(`${purpose} requires Node 20.16 or later. Browsers have no file system.`);
  return found;
}
