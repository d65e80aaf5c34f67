import { join } from 'node:path';
import { runAlternatorTests } from './alternator.ts';
import { runIamSimulation } from './iam.ts';
import { runMinistack } from './ministack/run.ts';
import { judge, type Opinion, outdatedFigures, readDeviations, readSection } from './opinion.ts';
import { runOverParts } from './parts.ts';
import { runS3Tests } from './s3-tests.ts';

const document = join(import.meta.dirname, 'README.md');
const suites: Record<string, { heading: string; run(only: string | undefined): Promise<Opinion> }> = {
  iam: { heading: 'IAM', run: runIamSimulation },
  dynamodb: { heading: 'DynamoDB', run: runAlternatorTests },
  ministack: { heading: 'ministack', run: runMinistack },
  parts: { heading: 'Parts', run: runOverParts },
  s3: { heading: 'S3', run: runS3Tests },
};

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Runs a third-party suite against an embedded server, and fails on what the list of deviations does not explain. */
async function main([name = '', only]: string[]): Promise<void> {
  const suite = suites[name];
  if (!suite)
    throw new Error(`Expected one of ${Object.keys(suites).join(', ')} but received ${JSON.stringify(name)}.`);
  const opinion = await suite.run(only);
  if ('missing' in opinion) {
    print(`Skipped: ${opinion.missing}.`);
    return;
  }
  const section = readSection(document, suite.heading);
  const { passed, explained, unexplained, outdated } = judge(opinion, readDeviations(section));
  const { outcomes, isPartial, resources } = opinion;
  const tests = `${passed} of ${outcomes.size} tests pass`;
  const figures = [...(resources === undefined ? [] : [`${resources} of ${resources} resources`]), tests];
  const wrong = isPartial ? [] : outdatedFigures(section, figures);
  for (const test of unexplained) print(`Deviates: ${test}`);
  for (const test of outdated) print(`On the list of deviations, and passed or not run: ${test}`);
  for (const { written, found } of wrong) print(`${document} says "${written}"; this run has "${found}"`);
  print(`${figures.join(', ')}; deviations explained: ${explained.length}, not explained: ${unexplained.length}`);
  if (unexplained.length + outdated.length + wrong.length > 0) process.exitCode = 1;
}

await main(process.argv.slice(2));
