import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalFunction } from '../../packages/local-aws/src/template/model.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { type RunningStack, startLocalStack } from '../local/stack.ts';
import type { Sample } from '../smoke/samples.ts';
import { Service } from '../smoke/service.ts';
import type { RunningImage } from './builder.ts';

/** Starts the function of an engine with the variables from Lambda. */
export type StartEngine = (variables: Record<string, string>) => RunningImage;

/** The whole service on this machine, with one engine started differently: in its image, or as a zip. */
export class ImageStack {
  readonly #folder: string;
  readonly #stack: RunningStack;
  readonly #service: Service;

  private constructor(folder: string, stack: RunningStack) {
    this.#folder = folder;
    this.#stack = stack;
    this.#service = new Service(stack.url, stack.apiKey);
  }

  static async start(engine: string, startEngine: StartEngine): Promise<ImageStack> {
    const folder = mkdtempSync(join(tmpdir(), 'lathe-images-'));
    const stack = await startLocalStack({
      template: await currentTemplate(),
      dataDirectory: folder,
      port: 0,
      missing: { engines: {} },
      environment: {},
      report: (line) => console.error(line),
      startImage: (fn, variables) => {
        if (engineOf(fn) !== engine) return undefined;
        const running = startEngine(givenByLambda(variables));
        // A container outlives the program that started it.
        running.process.once('exit', () => running.stop());
        return running.process;
      },
    });
    return new ImageStack(folder, stack);
  }

  /** Converts a sample as a client would, and returns the output. */
  async convert({ operation = 'convert', name, outputFormat, content }: Sample): Promise<Buffer> {
    const file = `data:;base64,${(await content()).toString('base64')}`;
    let job = await this.#service.createJob({
      sample: { operation: 'import/base64', filename: name, file },
      convert: { operation, input: 'sample', output_format: outputFormat },
    });
    while (job.endedAt === null) job = await this.#service.waitForJob(job.id);
    const convert = job.tasks.find((task) => task.name === 'convert');
    if (convert?.status !== 'completed') throw new Error(JSON.stringify(job.tasks.map(({ result }) => result)));
    return Buffer.from(await (await fetch(convert.result.url ?? '')).arrayBuffer());
  }

  /** Lists the barriers that isolated the engine's last conversion. */
  async standingBarriers(engine: string): Promise<string[]> {
    const { engines } = await this.#service.health();
    const { isolation } = engines.find(({ name }) => name === engine) ?? {};
    if (!isolation) throw new Error(`The engine ${engine} has not reported its barriers.`);
    return Object.entries(isolation.barriers).flatMap(([name, { stands }]) => (stands ? name : []));
  }

  async stop(): Promise<void> {
    await this.#stack.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns the engine of a function, by the folder of its module; empty for other functions. */
function engineOf({ entry }: LocalFunction): string {
  return /\/functions\/engines\/([^/]+)\/handler\.ts$/.exec(entry)?.[1] ?? '';
}

/** Leaves out variables of this machine: an image has its own programs, folders and code. */
function givenByLambda(variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => /^(?:AWS|LATHE)_/.test(name)));
}
