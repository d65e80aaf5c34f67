type Made<Makers> = { readonly [Name in keyof Makers]: Makers[Name] extends () => infer Value ? Value : never };

/** Returns an object whose values are created when they are first read. */
export function lazily<const Makers extends Record<string, () => unknown>>(makers: Makers): Made<Makers> {
  const made: Record<string, unknown> = {};
  for (const [name, make] of Object.entries(makers)) {
    const keep = (value: unknown) => Object.defineProperty(made, name, { value, enumerable: true, configurable: true });
    Object.defineProperty(made, name, {
      get: () => {
        const value = make();
        keep(value);
        return value;
      },
      enumerable: true,
      configurable: true,
    });
  }
  // TypeScript cannot infer the type of properties that are defined in a loop.
  return made as Made<Makers>;
}
