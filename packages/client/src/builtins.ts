interface Builtins {
  'node:fs': typeof import('node:fs');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:path': typeof import('node:path');
  'node:stream': typeof import('node:stream');
  'node:url': typeof import('node:url');
}

/** Returns a module of Node, or undefined in a browser: an import of it would keep this package out of browsers. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const { process: node }: { fetch: unknown; process?: { getBuiltinModule?(id: Name): Builtins[Name] } } = globalThis;
  return node?.getBuiltinModule?.(name);
}

/** Returns a module of Node, or throws what the caller would need it for. */
export function requiredBuiltin<Name extends keyof Builtins>(name: Name, purpose: string): Builtins[Name] {
  const found = builtin(name);
  if (!found) throw new TypeError(`${purpose} needs Node 20.16 or later; browsers have no file system.`);
  return found;
}
