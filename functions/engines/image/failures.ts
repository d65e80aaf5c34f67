import { EngineError, type InputFile } from '../runtime/engine.ts';
import { maxPixels } from './limits.ts';

/** Returns the error for a file that cannot be decoded. */
export function damaged(input: Pick<InputFile, 'format' | 'name'>, cause: unknown): EngineError {
  return new EngineError(
    `The file ${JSON.stringify(input.name)} could not be read as ${input.format}: it is damaged, incomplete or an unsupported variant of ${input.format}.`,
    { detail: lastLines(cause), cause },
  );
}

/** Returns the error for an image that would not fit in memory. */
export function tooManyPixels(input: Pick<InputFile, 'name'>, detail = ''): EngineError {
  return new EngineError(
    `The image ${JSON.stringify(input.name)} has more than ${maxPixels / 1_000_000} million pixels. Scale it down first.`,
    { detail },
  );
}

/** Returns the error for an animation or document that would not fit in memory. */
export function tooManyFramePixels(input: Pick<InputFile, 'name'>, maxPixelsOfFrames: number): EngineError {
  return new EngineError(
    `The frames of ${JSON.stringify(input.name)} have more than ${maxPixelsOfFrames / 1_000_000} million pixels in total. Scale it down, or convert a single one with the option page.`,
  );
}

/** Returns the error for a file without frames. */
export function noImage(input: Pick<InputFile, 'name'>): EngineError {
  return new EngineError(`The file ${JSON.stringify(input.name)} contains no image.`);
}

/** Translates a decoder error into one that the user can act on. */
export function explain(error: unknown, input: InputFile): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error;
  const detail = lastLines(error);
  if (/exceeds pixel limit|exceeds? (?:image )?(?:dimension|size) limit/i.test(detail))
    return tooManyPixels(input, detail);
  if (/ENOSPC|EACCES|ENOENT: .*open/.test(detail)) return error;
  return damaged(input, error);
}

/** Returns the end of an error's message, for the log. */
function lastLines(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.trimEnd().split('\n').slice(-5).join('\n').slice(-2000);
}
