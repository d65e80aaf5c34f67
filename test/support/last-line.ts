import { writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/**
 * Ends the output of a run with the skipped tests and their reasons, the projects it leaves out, and one line for
 * scripts, below everything else.
 */
export class LastLine implements Reporter {
  #passed = 0;
  // A run that aborts before its end is reported has failed.
  #failed = 1;
  #skipped: string[] = [];
  #leftOut: string[] = [];
  /** Whether tests were selected by name (`-t`), so that others have no reason of their own. */
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
    this.#leftOut = vitest.config.project
      .flatMap((pattern) => /^!(\w+)/.exec(pattern)?.[1] ?? [])
      .map((name) => `Left out the tests of ${name}: npm run test:${name} runs them`);
    process.once('exit', () => {
      for (const line of [...this.#skipped, ...this.#leftOut]) writeSync(1, `${line}\n`);
      writeSync(1, `${this.#passed} passed, ${this.#failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#passed = 0;
    this.#failed = unhandledErrors.length;
    const skipped = new Map<string, number>();
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      const failed = tests.filter((test) => test.result().state === 'failed').length;
      this.#passed += tests.filter((test) => test.result().state === 'passed').length;
      // A file that fails to load or set up fails although none of its tests ran.
      this.#failed += failed === 0 && module.state() === 'failed' ? 1 : failed;
      for (const test of tests) {
        if (test.result().state !== 'skipped') continue;
        const reason = reasonOf(test);
        if (reason === undefined && this.#isFiltered) continue;
        const line = `${module.relativeModuleId}: ${reason ?? 'no reason was given'}`;
        skipped.set(line, (skipped.get(line) ?? 0) + 1);
      }
    }
    if (modules.length === 0) this.#failed += 1;
    this.#skipped = [...skipped].map(([line, count]) => `Skipped ${count} in ${line}`);
  }
}

function reasonOf(test: TestCase): string | undefined {
  for (let task: TestCase['parent'] | TestCase = test; task.type !== 'module'; task = task.parent) {
    const { skipReason } = task.meta();
    if (skipReason !== undefined) return skipReason;
  }
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}
