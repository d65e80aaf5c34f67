import { availableParallelism } from 'node:os';
import { coresOf } from '../../../shared/catalogue/sizes.ts';
import { type Engine, EngineError, type Work, type WorkResult } from '../runtime/engine.ts';
import { Outputs } from '../runtime/outputs.ts';
import { catalogue } from './catalogue.ts';
import { compress, compressedDetails } from './compress.ts';
import { convert } from './convert.ts';
import type { MediaRun } from './programs.ts';
import { runPart } from './split/parts.ts';
import type { TimeLimit } from './time-limit.ts';
import { jobOf } from './transcode.ts';
import { crop, trim } from './trim.ts';

const operations = { convert, trim, crop };

const { timeoutSeconds } = catalogue.resources;
/** Memory of the function, which the operator may have configured. */
const memoryMegabytes = Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? catalogue.resources.memoryMegabytes);

/** Returns the remaining time for one of the files of a task. */
function timeLimit({ deadline, inputs }: Work & { deadline: number }, index: number): TimeLimit {
  const max = Math.max(0, (deadline - Date.now()) / 1000);
  return {
    cores: coresOf(memoryMegabytes, availableParallelism()),
    max,
    usual: max / (inputs.length - index) / 2,
  };
}

/** Converts, compresses, trims and crops audio and video with ffmpeg. */
export const engine: Engine = {
  awaitsInputs: true,
  async run(work, context): Promise<WorkResult> {
    const { signal, progress } = context;
    const warnings: string[][] = [];
    const deadline = work.deadline ?? Date.now() + timeoutSeconds * 1000;
    const runOf = (index: number): MediaRun => ({
      folder: work.folder,
      signal,
      timeLimit: () => timeLimit({ ...work, deadline }, index),
      warn: (given) => {
        const of = work.inputs.length > 1 && !work.part ? `${work.inputs[index]?.name}: ` : '';
        warnings[index] = given.map((warning) => of + warning);
      },
    });
    const warned = () => {
      const given = warnings.flat();
      return given.length > 0 ? { warnings: given } : {};
    };
    const share = (index: number) => (done: number) => progress(((index + done) / work.inputs.length) * 100);
    if (work.part) {
      const result = await runPart(work, work.part, runOf(0), (done) => progress(done * 100), context);
      progress(100);
      return { ...result, ...warned() };
    }
    if (work.operation === 'compress') {
      if (work.inputs.length !== 1) throw new EngineError('The operation compress takes one file per task.');
      const compressed = await compress(jobOf(work, 0, share(0)), runOf(0));
      progress(100);
      return { outputs: [compressed.output], details: compressedDetails(compressed), ...warned() };
    }
    const { operation } = work;
    if (!(operation === 'convert' || operation === 'trim' || operation === 'crop'))
      throw new Error(`The catalogue lists no ${operation} of media.`);
    const outputs = new Outputs(work);
    for (const index of work.inputs.keys()) {
      await outputs.add(...(await operations[operation](jobOf(work, index, share(index)), runOf(index))));
      progress(((index + 1) / work.inputs.length) * 100);
    }
    return { outputs: outputs.files, ...warned() };
  },
};
