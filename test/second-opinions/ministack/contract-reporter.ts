import { writeFileSync, writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const everyMs = 10_000;

/** Prints the progress and failures of the contract suite, and writes the outcomes to the file in LATHE_REPORT. */
export default class ContractReporter implements Reporter {
  readonly #outcomes: Record<string, boolean> = {};
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#timer = setInterval(() => this.#printCounts(), everyMs);
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === 'skipped' || state === 'pending') return;
    const name = nameOf(test);
    this.#outcomes[name] = state === 'passed';
    if (state === 'failed')
      print(`failed: ${name}\n  ${errors.map(({ message, diff = '' }) => `${message}\n${diff}`).join('\n  ')}`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly { message: string }[]): void {
    clearInterval(this.#timer);
    this.#printCounts();
    const errors = [...unhandledErrors, ...modules.flatMap((module) => module.errors())];
    // A broken setup leaves out tests, which must not look as if there were none.
    for (const { message } of errors) this.#outcomes[`the suite itself: ${message}`] = false;
    writeFileSync(process.env.LATHE_REPORT ?? '', JSON.stringify(this.#outcomes));
  }

  #printCounts(): void {
    const outcomes = Object.values(this.#outcomes);
    const passed = outcomes.filter((isPassed) => isPassed).length;
    print(`${passed} contract tests passed, ${outcomes.length - passed} failed`);
  }
}

/** Test names are unique only within their files. */
function nameOf(test: TestCase): string {
  const file = test.module.relativeModuleId.replace(/^.*\/|\.test\.ts$/g, '');
  return `${file}: ${test.fullName}`;
}

function print(text: string): void {
  writeSync(1, `${text}\n`);
}
