// Talks to the runner. Names of files and messages may come from strangers, such as authors of pull requests, and must
// not reach the log, the summary or the outputs as anything but text.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { EOL } from 'node:os';

/** Returns an input of the action, without surrounding whitespace. */
export function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? '').trim();
}

/** Writes a line to the log. The runner executes lines that start with `::` or contain `##[`. */
export function log(line) {
  process.stdout.write(`${printable(line).replace(/^(\s*):/, '$1\\u003a')}${EOL}`);
}

/** Sends a command to the runner, such as `error`, with its properties and message escaped. */
export function command(name, properties = {}, message = '') {
  const list = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(value)}`);
  process.stdout.write(
    `::${[name, ...(list.length > 0 ? [list.join(',')] : [])].join(' ')}::${escapeData(message)}${EOL}`,
  );
}

/** Sets an output of the step. */
export function setOutput(name, value) {
  const delimiter = `end-${randomUUID()}`;
  append('GITHUB_OUTPUT', `${name}<<${delimiter}${EOL}${value}${EOL}${delimiter}${EOL}`);
}

/** Adds Markdown to the summary of the job. */
export function addSummary(markdown) {
  append('GITHUB_STEP_SUMMARY', markdown);
}

/** Returns text for a cell of a Markdown table, in which every character stands for itself. */
export function cell(text) {
  return printable(text).replace(/[^\w ./]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** Returns text in one line, without control characters and commands of the runner's first syntax. */
export function printable(text) {
  return text
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`,
    )
    .replaceAll('##[', '##\\u005b');
}

function append(variable, text) {
  const path = process.env[variable];
  if (path) appendFileSync(path, text);
}

function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text) {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
