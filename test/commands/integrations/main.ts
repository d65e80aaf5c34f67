import { readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { type Check, Missing, Tools } from './tools.ts';

const folder = join(import.meta.dirname, 'checks');
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Runs the checks of all integrations, or of those named. Each module in `checks` exports one. */
async function main(names: string[]): Promise<void> {
  const known = readdirSync(folder).map((file) => parse(file).name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`Expected some of ${known.join(', ')} but received ${unknown.join(', ')}.`);
  await using tools = new Tools();
  let passed = 0;
  let failed = 0;
  for (const name of names.length > 0 ? names : known) {
    try {
      const { check }: { check: Check } = await import(join(folder, `${name}.ts`));
      print(`${name}: ${await check(tools)}`);
      passed++;
    } catch (error) {
      if (error instanceof Missing) {
        print(`  left out: ${name}, because ${error.message}`);
        continue;
      }
      print(`${name} failed: ${error instanceof Error ? error.stack : error}`);
      failed++;
    }
  }
  print(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

await main(process.argv.slice(2));
