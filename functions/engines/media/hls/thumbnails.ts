import { limits } from '../limits.ts';
import type { Size } from '../plan.ts';
import { vttOf, vttTime } from './captions.ts';

/** Pictures of a video at equal intervals, tiled into sprites. */
export interface Sprites {
  interval: number;
  thumbnail: Size;
  columns: number;
  rows: number;
}

const thumbnailWidth = 160;
const maxTiles = 10;

/** Plans the thumbnails of a video. A long video gets fewer of them than requested. */
export function planSprites(shown: Size, interval: number, seconds: number | undefined): Sprites {
  const apart = Math.max(interval, Math.ceil((seconds ?? 0) / limits.thumbnails));
  const count = seconds === undefined ? maxTiles ** 2 : Math.max(1, Math.ceil(seconds / apart));
  const columns = Math.min(maxTiles, Math.ceil(Math.sqrt(count)));
  const rows = Math.min(maxTiles, Math.ceil(count / columns));
  const height = Math.max(2, Math.round((thumbnailWidth * shown.height) / shown.width / 2) * 2);
  const width = Math.max(2, Math.round((height * shown.width) / shown.height / 2) * 2);
  return { interval: apart, thumbnail: { width, height }, columns, rows };
}

/** Returns the filters that make sprites of a video that starts at 0. */
export function spriteFilters({ interval, thumbnail, columns, rows }: Sprites): string[] {
  return [
    // `fps` would choose pictures from the middle of each interval.
    `select='gte(t,selected_n*${interval})'`,
    `scale=${thumbnail.width}:${thumbnail.height}:out_color_matrix=bt601:out_range=full`,
    `tile=${columns}x${rows}`,
  ];
}

/** Returns the WebVTT that names the part of a sprite for each time of a video. */
export function spriteIndex(sprites: Sprites, seconds: number, names: string[]): string {
  const { interval, thumbnail, columns, rows } = sprites;
  const perSprite = columns * rows;
  const count = Math.min(Math.max(1, Math.ceil(seconds / interval)), names.length * perSprite);
  return vttOf(
    Array.from({ length: count }, (_, at) => {
      const [column, row] = [at % columns, Math.floor((at % perSprite) / columns)];
      const times = `${vttTime(at * interval)} --> ${vttTime(Math.min(seconds, (at + 1) * interval))}`;
      const area = [column * thumbnail.width, row * thumbnail.height, thumbnail.width, thumbnail.height];
      return `${times}\n${names[Math.floor(at / perSprite)]}#xywh=${area.join(',')}`;
    }),
  );
}
