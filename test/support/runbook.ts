import { readFileSync } from 'node:fs';

/** Returns the runbook's shell commands by the name of each alarm. */
export function readRunbook(): Map<string, string[]> {
  const text = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
  const [, ...entries] = text.split(/^## /m);
  return new Map(
    entries.flatMap((entry) => {
      const [heading = ''] = entry.split('\n', 1);
      const commands = [...entry.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
        block.trim().split('\n'),
      );
      return heading.split(', ').map((name): [string, string[]] => [name, commands]);
    }),
  );
}
