/** The user and group that Lambda runs functions as. */
export const lambdaUser = '993:990';

/** Returns the tag of an engine's image on this machine. */
export function tag(engine: string): string {
  return `lathe-${engine}`;
}
