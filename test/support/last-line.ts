import { writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/**
 * Ends the output of a run with the skipped tests and their reasons, the projects it leaves out, the failed tests, and
 * one line for scripts, below everything else.
 */
export class LastLine implements Reporter {
  #passed = 0;
  // A run that aborts before its end is reported has failed.
  #failed = 1;
  #skipped: string[] = [];
  #failures: string[] = [];
  #leftOut: string[] = [];
  /** Whether tests were selected by name (`-t`), so that others have no reason of their own. */
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
    this.#leftOut = vitest.config.project
      .flatMap((pattern) => /^!(\w+)/.exec(pattern)?.[1] ?? [])
      .map((name) => `Left out the tests of ${name}: npm run test:${name} runs them`);
    process.once('exit', () => {
      for (const line of [...this.#skipped, ...this.#leftOut, ...this.#failures]) writeSync(1, `${line}\n`);
      writeSync(1, `${this.#passed} passed, ${this.#failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#passed = 0;
    this.#failed = unhandledErrors.length;
    this.#failures = [];
    const skipped = new Map<string, number>();
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      const failures = tests.flatMap((test) => {
        const { state, errors } = test.result();
        return state === 'failed' ? [failure(module, test.fullName, errors)] : [];
      });
      this.#passed += tests.filter((test) => test.result().state === 'passed').length;
      // A file that fails to load or set up fails although none of its tests ran.
      if (failures.length === 0 && module.state() === 'failed') {
        failures.push(failure(module, 'could not be loaded or set up', module.errors()));
      }
      this.#failed += failures.length;
      this.#failures.push(...failures);
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

/** The name and the first line of the error: the whole of it is in the output above. */
function failure(module: TestModule, name: string, errors: readonly { message: string }[] = []): string {
  return `Failed in ${module.relativeModuleId}: ${name}: ${errors[0]?.message.split('\n', 1)[0] ?? 'no error was given'}`;
}

function reasonOf(test: TestCase): string | undefined {
  for (let task: TestCase['parent'] | TestCase = test; task.type !== 'module'; task = task.parent) {
    const { skipReason } = task.meta();
    if (skipReason !== undefined) return skipReason;
  }
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}
