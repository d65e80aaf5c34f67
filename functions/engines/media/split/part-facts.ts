import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { InputFile } from '../../runtime/engine.ts';
import { explained } from '../explain.ts';
import type { MediaFormat } from '../formats.ts';
import { openingArgs } from '../probe.ts';
import { type MediaRun, runFfprobe } from '../programs.ts';

/** How a part is stored. */
export interface PartFacts {
  /** Its first time stamp in seconds. */
  start: number;
  /** What must be the same in all chunks, such as the parameter sets of their encoder. */
  encoding: Record<string, unknown>[];
}

const schema = z.object({
  format: z.object({ start_time: z.coerce.number() }),
  streams: z.array(z.record(z.string(), z.unknown())).min(1),
});
const compared = [
  ...['codec_name', 'codec_tag_string', 'profile', 'level', 'pix_fmt', 'width', 'height', 'time_base'],
  ...['sample_aspect_ratio', 'color_range', 'color_space', 'color_transfer', 'color_primaries', 'chroma_location'],
  ...['extradata_size', 'extradata_hash'],
];

/** Reads how a part is stored. */
export async function readFacts(part: InputFile, format: MediaFormat, run: MediaRun): Promise<PartFacts> {
  const reading = ['-show_data_hash', 'md5', ...openingArgs(format, part.path)];
  const found = schema.parse(await explained(part, () => runFfprobe(reading, run)));
  return {
    start: found.format.start_time,
    encoding: found.streams.map((stream) => Object.fromEntries(compared.map((name) => [name, stream[name]]))),
  };
}

/** Returns whether two chunks can follow each other in one stream. */
export function sameEncoding(one: PartFacts, other: PartFacts): boolean {
  return isDeepStrictEqual(one.encoding, other.encoding);
}
