const wildcards = new Map<string, RegExp>();

/** Returns the expression of a pattern in which `*` stands for any characters and `?` for one. */
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
