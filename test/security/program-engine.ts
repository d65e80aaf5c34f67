import type { Engine } from '../../functions/engines/runtime/engine.ts';
import { ProgramError, runProgram } from '../../functions/engines/runtime/program.ts';

/** An engine that runs a given program in the task's folder, to test what programs of engines can reach. */
export const engine: Engine = {
  async run({ folder, options }) {
    const [program = '', ...args] = JSON.parse(String(options.command));
    try {
      const { stdout } = await runProgram(program, args, { cwd: folder, timeoutMs: 20_000 });
      return { outputs: [], details: { failed: false, stdout, output: stdout } };
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      return { outputs: [], details: { failed: true, stdout: error.stdout, output: error.stdout + error.stderr } };
    }
  },
};
