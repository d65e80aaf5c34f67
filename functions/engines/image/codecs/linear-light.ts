/** Pixels in linear light with three or four floats each, as in EXR and Radiance files. */
export interface LinearPicture {
  data: Float32Array;
  width: number;
  height: number;
  channels: 3 | 4;
}

/** Pixels for screens, with 16 bits per channel to keep detail in shadows. */
export interface ScreenPicture extends Omit<LinearPicture, 'data'> {
  data: Uint16Array;
}

/** Applies the transfer curve of screens. Clips values brighter than white. */
export function toScreen({ data, width, height, channels }: LinearPicture): ScreenPicture {
  const result = new Uint16Array(data.length);
  for (let at = 0; at < data.length; at++) {
    const value = data[at] ?? 0;
    const isAlpha = channels === 4 && at % 4 === 3;
    result[at] = Math.round(65_535 * (isAlpha ? clamp(value) : toScreenTone(value)));
  }
  return { data: result, width, height, channels };
}

/** Removes the transfer curve of screens. */
export function toLinear({ data, width, height, channels }: ScreenPicture): LinearPicture {
  const result = new Float32Array(data.length);
  for (let at = 0; at < data.length; at++) {
    const value = (data[at] ?? 0) / 65_535;
    const isAlpha = channels === 4 && at % 4 === 3;
    result[at] = isAlpha ? value : decode(value);
  }
  return { data: result, width, height, channels };
}

function clamp(value: number): number {
  // NaN becomes black.
  return value > 0 ? Math.min(1, value) : 0;
}

/** Applies the transfer curve of screens to one value from 0 to 1. */
export function toScreenTone(value: number): number {
  const linear = clamp(value);
  return linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055;
}

function decode(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}
