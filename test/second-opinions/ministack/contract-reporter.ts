import { writeFileSync, writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const everyMs = 10_000;

/** Prints how far the contract suite is and what fails, and writes the outcomes to the file that LATHE_REPORT names. */
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
    // A set-up that breaks leaves tests out, which must not look as if there were none.
    for (const { message } of errors) this.#outcomes[`the suite itself: ${message}`] = false;
    writeFileSync(process.env.LATHE_REPORT ?? '', JSON.stringify(this.#outcomes));
  }

  #printCounts(): void {
    const outcomes = Object.values(this.#outcomes);
    const passed = outcomes.filter((isPassed) => isPassed).length;
    print(`${passed} contract tests passed, ${outcomes.length - passed} failed`);
  }
}

/** Names of tests are unique in their files only. */
function nameOf(test: TestCase): string {
  const file = test.module.relativeModuleId.replace(/^.*\/|\.test\.ts$/g, '');
  return `${file}: ${test.fullName}`;
}

function print(text: string): void {
  writeSync(1, `${text}\n`);
}
