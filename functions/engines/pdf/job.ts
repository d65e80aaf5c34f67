import type { InputFile, Work, WorkResult } from '../runtime/engine.ts';
import type { Workspace } from '../runtime/pdf-file.ts';

/** The work on one input. Its folder is the one that programs are confined to. */
export interface Job extends Workspace {
  work: Work;
  input: InputFile;
}

export type Operation = (job: Job) => Promise<WorkResult>;
