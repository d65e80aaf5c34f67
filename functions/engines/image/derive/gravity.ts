import type { Gravity, positions } from '../../../../shared/pictures/picture.ts';
import type { Size } from '../decoders/decoding.ts';

type Position = (typeof positions)[number];

export interface Point {
  left: number;
  top: number;
}

/** Mirrors the columns first if `flop` is set, then rotates clockwise. All orientations and flips can be written that way. */
export interface Turn {
  angle: number;
  flop: boolean;
}

/** The direction of each position from the center, to the right and down. */
const directions: Record<Position, readonly [number, number]> = {
  ce: [0, 0],
  no: [0, -1],
  so: [0, 1],
  ea: [1, 0],
  we: [-1, 0],
  noea: [1, -1],
  nowe: [-1, -1],
  soea: [1, 1],
  sowe: [-1, 1],
};

/** Combines the EXIF orientation, then the rotation, then the flips of a picture. */
export function turnOf(
  orientation: number,
  rotate: number,
  { horizontal, vertical }: { horizontal: boolean; vertical: boolean },
): Turn {
  const angle = [0, 0, 0, 180, 180, 90, 90, 270, 270][orientation] ?? 0;
  let turn: Turn = { angle, flop: false };
  // Mirroring a rotated picture is the same as rotating a mirrored one the other way.
  const mirror = (): Turn => ({ angle: 360 - turn.angle, flop: !turn.flop });
  if ([2, 4, 5, 7].includes(orientation)) turn = mirror();
  turn.angle += rotate;
  if (horizontal) turn = mirror();
  if (vertical) {
    turn = mirror();
    turn.angle += 180;
  }
  return { ...turn, angle: turn.angle % 360 };
}

/** Returns whether a turn exchanges width and height. */
export function isSideways({ angle }: Turn): boolean {
  return angle % 180 !== 0;
}

/** Returns the gravity in a picture that has not been turned yet. */
export function unturned(gravity: Gravity, turn: Turn): Gravity {
  if (gravity.type === 'sm') return gravity;
  if (gravity.type === 'fp') {
    const [x, y] = unturnedVector([gravity.x - 0.5, gravity.y - 0.5], turn);
    return { type: 'fp', x: x + 0.5, y: y + 0.5 };
  }
  const from = directions[gravity.type];
  const to = unturnedVector(from, turn);
  // Offsets point away from the side of the position.
  const [x, y] = unturnedVector([inward(gravity.x, from[0]), inward(gravity.y, from[1])], turn);
  return { type: positionAt(to), x: inward(x, to[0]), y: inward(y, to[1]) };
}

function inward(offset: number, side: number): number {
  return side > 0 ? -offset : offset;
}

function unturnedVector([x, y]: readonly [number, number], { angle, flop }: Turn): [number, number] {
  for (let turned = 0; turned < angle; turned += 90) [x, y] = [y, -x];
  return [flop ? -x : x, y];
}

function positionAt([x, y]: readonly [number, number]): Position {
  const found = Object.entries(directions).find(([, direction]) => direction[0] === x && direction[1] === y);
  return (found?.[0] ?? 'ce') as Position;
}

/** Rounds half to even, as imgproxy does for offsets and padding. */
export function roundEven(value: number): number {
  const rounded = Math.round(value);
  return Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** Converts an offset to pixels: a fraction of the size, or pixels that are multiplied by the pixel ratio. */
export function offsetPixels(offset: number, size: number, dpr: number): number {
  return roundEven(Math.abs(offset) >= 1 ? offset * dpr : size * offset);
}

/** Places a box inside an area. If it may overflow, at least one pixel of it stays inside. */
export function place(area: Size, box: Size, gravity: Gravity, dpr: number, mayOverflow = false): Point {
  const [toRight, down] = gravity.type === 'fp' || gravity.type === 'sm' ? [0, 0] : directions[gravity.type];
  const along = (size: number, inner: number, offset: number, side: number) => {
    const start =
      gravity.type === 'fp'
        ? roundEven(size * offset) - Math.floor(inner / 2)
        : sideStart(size, inner, offsetPixels(offset, size, dpr), side);
    const [min, max] = mayOverflow ? [1 - inner, size - 1] : [0, size - inner];
    return Math.max(min, Math.min(start, max));
  };
  return {
    left: along(area.width, box.width, gravity.x, toRight),
    top: along(area.height, box.height, gravity.y, down),
  };
}

function sideStart(size: number, inner: number, offset: number, side: number): number {
  if (side < 0) return offset;
  if (side > 0) return size - inner - offset;
  return roundEven((size - inner + 1) / 2) + offset;
}
