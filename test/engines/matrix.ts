export interface Sample {
  path: string;
  format: string;
}

/** How an engine's pairs are proven: a real sample for each input format, and a check of each output by another reader than its writer. */
export interface EngineMatrix {
  engine: string;
  /** Writes a sample of a format to a folder and returns its path. Samples are made by independent programs if possible. */
  sample(format: string, folder: string): Promise<string>;
  /** Throws with the reason when an output is not the sample in the other format: type, dimensions/duration/pages and content. */
  verify(output: Sample, input: Sample, operation: string): Promise<void>;
  /** Options that a pair cannot do without, such as the region of a crop. */
  options?(operation: string, from: string, to: string): Record<string, unknown>;
}
