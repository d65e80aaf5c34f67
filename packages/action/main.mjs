import { randomUUID } from 'node:crypto';
import { glob, lstat, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { perform } from './lathe.mjs';
import { addSummary, cell, command, input, log, setOutput } from './runner.mjs';

/** GitHub shows at most 1 MiB of a summary. */
const maxRows = 500;

const workspace = await realpath(process.env.GITHUB_WORKSPACE ?? process.cwd());

/** Reads the inputs, and throws an error that says what to change if one is invalid. */
function readInputs() {
  const key = input('key');
  // Before anything else, so that no later line shows the key.
  if (key) command('add-mask', {}, key);
  const expect = (isValid, name, expected, value = input(name)) => {
    if (!isValid) throw new Error(`Expected ${expected} for ${name} but received ${JSON.stringify(value)}.`);
  };
  expect(URL.canParse(input('url')) && /^https?:/.test(input('url')), 'url', 'the URL of a service');
  expect(key !== '', 'key', 'an API key', '');
  const patterns = input('files')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  expect(
    patterns.some((pattern) => !pattern.startsWith('!')),
    'files',
    'one pattern per line',
  );
  const operation = input('operation') || 'convert';
  expect(/^[a-z]+(\/[a-z]+)?$/.test(operation), 'operation', 'an operation such as convert');
  expect(operation !== 'convert' || input('to') !== '', 'to', 'an output format such as webp');
  const options = parsed(input('options') || '{}');
  expect(options !== null && typeof options === 'object' && !Array.isArray(options), 'options', 'a JSON object');
  const output = resolve(workspace, input('output') || 'converted');
  expect(isWithin(output), 'output', 'a folder within the workspace');
  const parallel = Number(input('parallel') || 4);
  expect(Number.isInteger(parallel) && parallel >= 1 && parallel <= 32, 'parallel', 'a number from 1 to 32');
  const failOnError = input('fail-on-error') || 'true';
  expect(['true', 'false'].includes(failOnError), 'fail-on-error', 'true or false');
  return {
    service: { url: input('url').replace(/\/+$/, ''), key },
    task: { operation, to: input('to'), options },
    patterns,
    output,
    parallel,
    failOnError: failOnError === 'true',
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a path is the workspace or within it. */
function isWithin(path) {
  const way = relative(workspace, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Lists the files that match, relative to the workspace, without earlier results. */
async function findFiles(patterns, output) {
  const exclude = patterns.flatMap((pattern) => (pattern.startsWith('!') ? [pattern.slice(1)] : []));
  const included = patterns.filter((pattern) => !pattern.startsWith('!'));
  const found = new Set();
  for await (const path of glob(included, { cwd: workspace, exclude: ['.git/**', '**/.git/**', ...exclude] })) {
    const absolute = resolve(workspace, path);
    const isResult = output !== workspace && absolute.startsWith(output + sep);
    if (!isResult && (await lstat(absolute)).isDirectory() === false) found.add(relative(workspace, absolute));
  }
  return [...found].sort();
}

/** Converts a file of the workspace and returns the paths and sizes of its results. */
async function convert(path, { service, task, output }, taken) {
  const source = await realpath(join(workspace, path));
  // A pull request could add a link to a file of the runner.
  if (!isWithin(source)) throw new Error('The file is outside of the workspace.');
  const stem = join(output, path.slice(0, path.length - extname(path).length));
  const results = [];
  for (const { filename, body } of await perform(service, source, task)) {
    const target = reserve(stem, extname(filename), taken);
    results.push({ output: relative(workspace, target), bytes: await write(target, body) });
  }
  return results;
}

/** Writes a result and returns its size. The file appears when it is complete, and replaces a link of the same name. */
async function write(target, body) {
  await mkdir(dirname(target), { recursive: true });
  if (!isWithin(await realpath(dirname(target)))) throw new Error('The output folder leads out of the workspace.');
  const partial = `${target}.${randomUUID()}`;
  try {
    await writeFile(partial, body, { flag: 'wx' });
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return (await stat(target)).size;
}

/** Returns a name that no other result of this step has: `x.jpg` and `x.png` become `x.webp` and `x-2.webp`. */
function reserve(stem, extension, taken) {
  let target = `${stem}${extension}`;
  for (let number = 2; taken.has(target.toLowerCase()); number++) target = `${stem}-${number}${extension}`;
  taken.add(target.toLowerCase());
  return target;
}

/** Converts files concurrently, and reports each when it ends. */
async function convertAll(paths, inputs) {
  const taken = new Set();
  const outcomes = new Map();
  const pending = paths.values();
  const work = async () => {
    for (const path of pending) {
      try {
        const results = await convert(path, inputs, taken);
        outcomes.set(path, { results });
        for (const { output, bytes } of results) log(`Done: ${path} -> ${output} (${bytes} bytes)`);
      } catch (error) {
        outcomes.set(path, { results: [], error: error.message });
        log(`Failed: ${path}: ${error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: inputs.parallel }, work));
  return paths.map((path) => ({ input: path, ...outcomes.get(path) }));
}

function summarize(outcomes) {
  const rows = outcomes.flatMap(({ input: path, results, error }) => [
    ...results.map(({ output, bytes }) => `| ${cell(path)} | ${cell(output)} | ${bytes} |`),
    ...(error === undefined ? [] : [`| ${cell(path)} | ❌ ${cell(error)} | |`]),
  ]);
  const rest = rows.length > maxRows ? ['', `${rows.length - maxRows} more rows are in the log.`] : [];
  const table = ['| file | result | bytes |', '| --- | --- | ---: |', ...rows.slice(0, maxRows)];
  addSummary(['### Lathe', '', ...table, ...rest, ''].join('\n'));
}

async function main() {
  const inputs = readInputs();
  const paths = await findFiles(inputs.patterns, inputs.output);
  if (paths.length === 0) throw new Error(`No file matches ${JSON.stringify(inputs.patterns)}.`);
  command('group', {}, `${inputs.task.operation}: ${paths.length} files`);
  const outcomes = await convertAll(paths, inputs);
  command('endgroup');
  const files = outcomes.flatMap(({ input: path, results }) => results.map((result) => ({ input: path, ...result })));
  const failed = outcomes.filter(({ error }) => error !== undefined);
  for (const { input: file, error } of failed) command('error', { file, title: 'Lathe' }, error);
  setOutput('files', JSON.stringify(files));
  setOutput('count', String(files.length));
  setOutput('failed', String(failed.length));
  summarize(outcomes);
  log(`${files.length} results, ${failed.length} files failed`);
  if (failed.length > 0 && inputs.failOnError) process.exitCode = 1;
}

await main().catch((error) => {
  command('error', { title: 'Lathe' }, error.message);
  process.exitCode = 1;
});
