import { EngineError, type Work, type WorkContext, type WorkResult } from '../runtime/engine.ts';
import { convert } from './convert.ts';
import type { Size } from './decoders/decoding.ts';
import { type Cut, numberOption, textOption } from './transform.ts';

/** Crops every input. */
export async function crop(work: Work, context: WorkContext): Promise<WorkResult> {
  const { options } = work;
  const given = ['width', 'height', 'aspect', 'x', 'y'].some((name) => options[name] !== undefined);
  if (!given) throw new EngineError('No crop area was given. Set width and height, or aspect such as 16:9.');
  return convert(work, context, (picture) => chooseCut(picture, work));
}

/** Returns the crop area, in pixels of the image as displayed. */
function chooseCut(picture: Size, { options }: Pick<Work, 'options'>): Cut {
  const left = numberOption(options, 'x');
  const top = numberOption(options, 'y');
  const room = { width: picture.width - (left ?? 0), height: picture.height - (top ?? 0) };
  if (room.width < 1 || room.height < 1) throw outside(picture);
  const { width, height } = cutSize(room, options);
  if (width > room.width || height > room.height) throw outside(picture);
  return {
    left: left ?? Math.floor((picture.width - width) / 2),
    top: top ?? Math.floor((picture.height - height) / 2),
    width,
    height,
  };
}

function cutSize(room: Size, options: Work['options']): Size {
  const width = numberOption(options, 'width');
  const height = numberOption(options, 'height');
  const [across, down] = (textOption(options, 'aspect') ?? '').split(':').map(Number);
  if (!across || !down) return { width: width ?? room.width, height: height ?? room.height };
  const ratio = across / down;
  if (width !== undefined && height !== undefined) {
    throw new EngineError('Expected either width and height or aspect, but received all three.');
  }
  if (width !== undefined) return { width, height: Math.max(1, Math.round(width / ratio)) };
  if (height !== undefined) return { width: Math.max(1, Math.round(height * ratio)), height };
  return room.width / room.height > ratio
    ? { width: Math.max(1, Math.round(room.height * ratio)), height: room.height }
    : { width: room.width, height: Math.max(1, Math.round(room.width / ratio)) };
}

function outside({ width, height }: Size): EngineError {
  return new EngineError(`The crop area is outside the image, which is ${width} × ${height} pixels.`);
}
