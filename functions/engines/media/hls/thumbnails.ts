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
export function spriteFilters(sprites: Sprites): string[] {
  return [selected(sprites), scaled(sprites), tiled(sprites)];
}

/** Returns the filters that make the thumbnails of a chunk. The first picture is one in any case. */
export function thumbnailFilters(sprites: Sprites): string[] {
  const { interval } = sprites;
  return [
    `select='isnan(prev_selected_t)+gt(floor(t/${interval}),floor(prev_selected_t/${interval}))'`,
    scaled(sprites),
  ];
}

/** Returns the filters that make the same sprites of the thumbnails of all chunks. */
export function joinedSpriteFilters(sprites: Sprites): string[] {
  return [selected(sprites), tiled(sprites)];
}

function selected({ interval }: Sprites): string {
  // `fps` would choose pictures from the middle of each interval.
  return `select='gte(t,selected_n*${interval})'`;
}

function scaled({ thumbnail }: Sprites): string {
  return `scale=${thumbnail.width}:${thumbnail.height}:out_color_matrix=bt601:out_range=full`;
}

function tiled({ columns, rows }: Sprites): string {
  return `tile=${columns}x${rows}`;
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
