type Input = Record<string, unknown>;

/** Returns the writes of a TransactWriteItems, each with its verb, such as Put. */
export function transactionWrites({ TransactItems: items }: Input): [verb: string, write: Input][] {
  return (Array.isArray(items) ? items : []).map((item) => {
    const [[verb, write] = ['', {}]] = Object.entries(Object(item));
    return [verb, Object(write)];
  });
}
