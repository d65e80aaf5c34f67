import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FaultsError, readFaults } from './faults/faults.ts';
import { startLocalAws } from './start.ts';
import { NotUnderstood } from './template/properties.ts';

const usage = `Runs a stack of a cloud assembly on this machine.

  local-aws <cloud assembly> [options]

  --stack <name>             the stack to run, if the assembly has several
  --port <number>            defaults to 3000; 0 selects any free port
  --data <folder>            keeps tables, queues and objects; defaults to .local-aws
  --parameter <name=value>   a parameter of the template; may be repeated
  --faults <names>           faults of the simulated AWS: all, or names, such as index-lag,kills:1234
  --help

Functions run on Node from the assets in the assembly, so synthesize with asset metadata, as the CDK's command line does by default.
`;

class UsageError extends Error {}

/** Runs the command line, and returns its exit code once the stack has stopped. */
export async function main(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parse(args);
    const [assembly] = positionals;
    if (values.help) {
      process.stdout.write(usage);
      return 0;
    }
    if (assembly === undefined || positionals.length > 1)
      throw new UsageError(`Expected one cloud assembly.\n\n${usage}`);
    await run(assembly, values);
    return 0;
  } catch (error) {
    const isExpected = [UsageError, FaultsError, NotUnderstood].some((type) => error instanceof type);
    process.stderr.write(`${error instanceof Error ? (isExpected ? error.message : error.stack) : String(error)}\n`);
    return 1;
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        stack: { type: 'string' },
        port: { type: 'string', default: '3000' },
        data: { type: 'string', default: '.local-aws' },
        parameter: { type: 'string', multiple: true, default: [] },
        faults: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}

async function run(assembly: string, { stack, port, data, parameter, faults }: ReturnType<typeof parse>['values']) {
  if (!/^\d{1,5}$/.test(port)) throw new UsageError(`Expected a port number but received ${port}.`);
  const running = await startLocalAws({
    template: templateOf(assembly, stack),
    root: assembly,
    dataDirectory: data,
    port: Number(port),
    parameters: Object.fromEntries(parameter.map(parameterOf)),
    faults: readFaults(faults),
    secret: secretOf(data),
    report: (line) => void process.stderr.write(`${line}\n`),
  });
  process.stdout.write(`${running.url}\n`);
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve());
  await promise;
  await running.stop();
}

/** Finds the template of a stack. Nested stacks have differently named templates. */
function templateOf(assembly: string, stack: string | undefined): string {
  if (!existsSync(assembly)) throw new UsageError(`There is no cloud assembly ${assembly}. Create it with cdk synth.`);
  const suffix = '.template.json';
  const names = readdirSync(assembly)
    .filter((name) => name.endsWith(suffix) && !name.endsWith(`.nested${suffix}`))
    .map((name) => name.slice(0, -suffix.length));
  const name = stack ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined || !names.includes(name))
    throw new UsageError(`Expected --stack to name one of ${names.join(', ') || 'no stacks'}.`);
  return join(assembly, `${name}${suffix}`);
}

function parameterOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`Expected --parameter name=value but received ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the secret from which role credentials are derived, created once and kept with the data. */
function secretOf(data: string): string {
  const path = join(data, 'secret');
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const secret = randomBytes(32).toString('hex');
  mkdirSync(data, { recursive: true });
  writeFileSync(path, secret, { mode: 0o600, flag: 'wx' });
  return secret;
}
