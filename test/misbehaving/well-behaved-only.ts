/** Tests that hold only where AWS behaves, by their names, and why. */
export const wellBehavedOnly: Record<string, string> = {};
