import type { InputFile, Work } from '../../runtime/engine.ts';
import type { Workspace } from '../../runtime/pdf-file.ts';
import type { Content } from '../model.ts';

/** Content, and warnings for the user. */
export interface Reading {
  content: Content;
  warnings: string[];
}

export interface ReadJob extends Workspace {
  work: Work;
  input: InputFile;
}
