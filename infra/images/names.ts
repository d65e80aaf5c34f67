/** The user and group that Lambda runs functions as. */
export const lambdaUser = '993:990';

/** Returns the local tag of an engine's image. */
export function tag(engine: string): string {
  return `lathe-${engine}`;
}
