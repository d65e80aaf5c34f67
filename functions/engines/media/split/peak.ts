import { z } from 'zod';
import type { InputFile } from '../../runtime/engine.ts';
import { explained } from '../explain.ts';
import { mediaFormat } from '../formats.ts';
import { openingArgs, type VideoStream } from '../probe.ts';
import { type MediaRun, runFfprobe } from '../programs.ts';

/** In cd/m²: what ffmpeg counts as white. */
const referenceWhite = 100;
/** What ffmpeg assumes of a video that does not say. */
const usualPeak = 10;

const sideData = z
  .array(
    z.object({
      max_content: z.coerce.number().catch(0).default(0),
      max_luminance: z.string().catch('').default(''),
    }),
  )
  .catch([])
  .default([]);
const schema = z.object({
  frames: z.array(z.object({ side_data_list: sideData })).default([]),
  streams: z.array(z.object({ index: z.number(), side_data_list: sideData })).default([]),
});

/** Returns the brightest value of an HDR video, which ffmpeg takes from its first picture. */
export async function peakOf(input: InputFile, video: VideoStream, run: MediaRun): Promise<number> {
  const reading = [
    ...['-select_streams', String(video.index), '-show_frames', '-read_intervals', '%+#1'],
    ...openingArgs(mediaFormat(input.format), input.path),
  ];
  const { frames, streams } = schema.parse(await explained(input, () => runFfprobe(reading, run)));
  const ofStream = streams.find(({ index }) => index === video.index);
  const declared = [...(frames[0]?.side_data_list ?? []), ...(ofStream?.side_data_list ?? [])];
  const light = declared.find(({ max_content }) => max_content > 0)?.max_content ?? 0;
  const display = declared.map(({ max_luminance }) => fraction(max_luminance)).find((value) => value > 0) ?? 0;
  return (light || display) / referenceWhite || usualPeak;
}

function fraction(text: string): number {
  const [above = 0, below = 1] = text.split('/').map(Number);
  return Number.isFinite(above / below) ? above / below : 0;
}
