import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output of a run with one line for scripts, below everything else that is printed. */
export class LastLine implements Reporter {
  #passed = 0;
  // A run that breaks off before its end is reported has failed.
  #failed = 1;

  onInit(): void {
    process.once('exit', () => void writeSync(1, `${this.#passed} passed, ${this.#failed} failed\n`));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#passed = 0;
    this.#failed = unhandledErrors.length;
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      const failed = tests.filter((test) => test.result().state === 'failed').length;
      this.#passed += tests.filter((test) => test.result().state === 'passed').length;
      // A file that cannot be loaded, or whose set-up breaks, fails although none of its tests ran.
      this.#failed += failed === 0 && module.state() === 'failed' ? 1 : failed;
    }
    if (modules.length === 0) this.#failed += 1;
  }
}
