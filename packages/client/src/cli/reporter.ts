import type { RunProgress } from '../run.ts';
import { bytesText, type Output, printable } from './terminal.ts';

/** The result for one file, as printed with --json. */
export type Outcome =
  | {
      type: 'converted';
      input: string;
      outputs: string[];
      bytes: number;
      seconds: number;
      job?: string;
      warnings?: string[];
    }
  | { type: 'failed'; input: string; errorCode: string; msg: string }
  | { type: 'skipped'; input: string; reason: string };

/** Reports the results of a command. */
export interface Reporter {
  /** Shows the progress of a file. Absent if it would not be visible, to avoid subscribing to events. */
  progress?(input: string, progress: RunProgress): void;
  end(outcome: Outcome): void;
  /** Restores the terminal. */
  close(): void;
}

export interface ReporterOptions {
  json?: boolean | undefined;
  quiet?: boolean | undefined;
}

/** Creates a reporter: JSON lines, progress bars on a terminal, or plain lines. */
export function reporterFor(output: Output, { json, quiet }: ReporterOptions): Reporter {
  const { out, err } = output;
  const close = () => {};
  if (json) return { end: (outcome) => void out.write(`${JSON.stringify(outcome)}\n`), close };
  if (err.isTTY && process.env.TERM !== 'dumb' && !quiet) return new BarReporter(output);
  const end = (outcome: Outcome) => {
    if (outcome.type === 'failed') err.write(`${lineOf(outcome)}\n`);
    else if (!quiet) (outcome.type === 'skipped' ? err : out).write(`${lineOf(outcome)}\n`);
  };
  return { end, close };
}

const barWidth = 24;
const drawEveryMs = 80;
/** Bars whose percent is estimated move a few times per second. */
const estimateEveryMs = 250;
/** The time after which the estimate is two thirds. */
const typicalMs = 8_000;
const maxEstimate = 0.95;

interface ActiveFile {
  progress: RunProgress;
  /** When its current stage began. */
  since: number;
}

const signs = { converted: '\x1b[32m✓\x1b[0m', failed: '\x1b[31m✗\x1b[0m', skipped: '\x1b[33m-\x1b[0m' };

/** Draws a bar for each active file below the lines of finished ones. */
class BarReporter implements Reporter {
  readonly #output: Output;
  readonly #active = new Map<string, ActiveFile>();
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  progress(input: string, progress: RunProgress): void {
    const known = this.#active.get(input);
    const since = known?.progress.stage === progress.stage ? known.since : performance.now();
    this.#active.set(input, { progress, since });
    this.#drawSoon(drawEveryMs);
  }

  end(outcome: Outcome): void {
    this.#active.delete(outcome.input);
    this.#clear();
    const stream = outcome.type === 'converted' ? this.#output.out : this.#output.err;
    stream.write(`${signs[outcome.type]} ${lineOf(outcome)}\n`);
    this.#draw();
  }

  close(): void {
    this.#active.clear();
    clearTimeout(this.#timer);
    this.#clear();
  }

  #drawSoon(milliseconds: number): void {
    this.#timer ??= setTimeout(() => this.#draw(), milliseconds);
  }

  #clear(): void {
    if (this.#drawn > 0) this.#output.err.write(`\x1b[${this.#drawn}A\r\x1b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#clear();
    const lines = [...this.#active].map(([input, active]) => barOf(input, active, this.#output.err.columns || 80));
    this.#output.err.write(lines.map((line) => `${line}\n`).join(''));
    this.#drawn = lines.length;
    if (lines.length > 0) this.#drawSoon(estimateEveryMs);
  }
}

function barOf(input: string, active: ActiveFile, columns: number): string {
  const { progress } = active;
  const known = partOf(progress);
  const part = known ?? estimateOf(active);
  const filled = Math.round(part * barWidth);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`;
  const percent = `${known === undefined ? '~' : ''}${Math.round(part * 100)}%`;
  const text = `  ${bar} ${percent.padStart(4)} ${progress.stage.padEnd(10)} ${printable(input)}`;
  return text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
}

function partOf(progress: RunProgress): number | undefined {
  if (progress.stage === 'done') return 1;
  if (progress.stage === 'processing') return progress.percent === undefined ? undefined : progress.percent / 100;
  return progress.total ? progress.loaded / progress.total : undefined;
}

/** Estimates progress that the service does not report, slower and slower. */
function estimateOf({ since }: ActiveFile): number {
  return maxEstimate * (1 - Math.exp((since - performance.now()) / typicalMs));
}

function lineOf(outcome: Outcome): string {
  if (outcome.type === 'failed') return printable(`${outcome.input}: ${outcome.msg}`);
  if (outcome.type === 'skipped') return printable(`${outcome.input}: skipped, ${outcome.reason}`);
  const { input, outputs, bytes, seconds, warnings = [] } = outcome;
  const where = outputs.length > 2 ? `${outputs[0]} … ${outputs.at(-1)}` : outputs.join(', ');
  const line = printable(`${input} -> ${where} (${bytesText(bytes)}, ${seconds.toFixed(1)} s)`);
  return [line, ...warnings.map((warning) => `  ${printable(warning)}`)].join('\n');
}
