const wildcards = new Map<string, RegExp>();

/** Returns a regular expression for a pattern with `*` for any characters and `?` for one. */
export function wildcard(pattern: string, ignoreCase = false): RegExp {
  const key = `${ignoreCase}${pattern}`;
  let expression = wildcards.get(key);
  if (!expression) {
    const source = pattern
      .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replaceAll('?', '.');
    expression = new RegExp(`^${source}$`, ignoreCase ? 'isu' : 'su');
    wildcards.set(key, expression);
  }
  return expression;
}
