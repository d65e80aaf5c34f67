import { describe, expect, it } from 'vitest';
import { chunkClock, chunkInput, chunkSelection, joinedInputs } from '../../../functions/engines/media/chunk.ts';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import type { VideoStream } from '../../../functions/engines/media/probe.ts';
import { PacketTimes, packetOf } from '../../../functions/engines/media/split/boundaries.ts';

function timesOf(...lines: string[]): PacketTimes {
  const times = new PacketTimes();
  for (const line of lines) {
    const [time = '', flags = ''] = line.split(',');
    const packet = packetOf(`0,${time},100,48,${flags}`);
    if (packet) times.add(packet);
  }
  return times;
}

const video: VideoStream = {
  index: 0,
  codec: 'h264',
  width: 1920,
  height: 1080,
  pixelAspect: 1,
  rotated: false,
  framesPerSecond: 29.97,
  steadyRate: '30000/1001',
  timeBase: '1/12800',
  start: 0.5,
  pixelFormat: 'yuv420p',
  matrix: '',
  interlaced: false,
  highDynamicRange: false,
};
const irregular: VideoStream = { ...video, steadyRate: undefined };

describe('The packets of a video', () => {
  it('have boundaries shortly before their key frames, in seconds from the start of the file', () => {
    // The picture at 11.9 is stored after the key frame that it leads to.
    const times = timesOf('10.0,K__', '10.5,___', '12.0,K__', '11.9,___', '12.002,___', '14.0,K__');

    expect(times.pictures(10, undefined)).toMatchObject({ start: 0, last: 4, boundaries: [1.995, 3.995] });
  });

  it('have no boundary at a key frame that follows the picture before it at once', () => {
    expect(timesOf('0,K__', '1,___', '1.002,K__').pictures(0, undefined)?.boundaries).toEqual([]);
  });

  it('are not counted if an edit list leaves them out', () => {
    const times = timesOf('-0.5,KD_', '0,_D_', '0.5,___', '1,K__');

    expect(times.count).toBe(2);
    expect(times.pictures(0, undefined)).toMatchObject({ start: 0.5, boundaries: [0.995] });
  });

  it.each([
    ['a time is missing', ['0,K__', 'N/A,___']],
    ['a time is given twice', ['0,K__', '1,___', '1,___']],
    ['there are none', []],
  ])('give no pictures if %s', (_, lines) => {
    expect(timesOf(...lines).pictures(0, undefined)).toBeUndefined();
  });

  it('are on the grid of a constant rate within the rounding of their container', () => {
    const rounded = timesOf('0.021,K__', '0.054,___', '0.088,___', '0.154,___');

    expect(rounded.pictures(0, 30)?.isOnGrid).toBe(true);
    expect(timesOf('0,K__', '0.033,___', '0.05,___').pictures(0, 30)?.isOnGrid).toBe(false);
  });

  it('have at most four thousand boundaries, at equal distances', () => {
    const times = timesOf(...Array.from({ length: 43_200 }, (_, second) => `${second},K__`));
    const { boundaries = [] } = times.pictures(0, undefined) ?? {};

    expect(boundaries.length).toBeLessThanOrEqual(4000);
    expect(boundaries.length).toBeGreaterThan(3500);
    expect(boundaries.toSorted((one, other) => one - other)).toEqual(boundaries);
  });
});

describe('A chunk', () => {
  it('reads the source from before its first picture until after its last', () => {
    expect(chunkInput({ from: 60, to: 90 }).join(' ')).toBe('-copyts -start_at_zero -ss 57.000000 -t 35.000000');
  });

  it('reads from the start of the file if it is the first, and to the end if it is the last', () => {
    expect(chunkInput({ from: undefined, to: 30 }).join(' ')).toBe('-copyts -start_at_zero -t 32.000000');
    expect(chunkInput({ from: 2, to: 30 })).not.toContain('-ss');
    expect(chunkInput({ from: 60, to: undefined })).not.toContain('-t');
    expect(chunkSelection({ from: undefined, to: undefined })).toBe("select='1'");
  });

  it('shares no picture with the next one', () => {
    expect(chunkSelection({ from: undefined, to: 30 })).toBe("select='lt(t,30.000000)'");
    expect(chunkSelection({ from: 30, to: 60 })).toBe("select='gte(t,30.000000)*lt(t,60.000000)'");
  });

  it('counts frames at a constant rate, and keeps the ticks of the source at a variable one', () => {
    const mp4 = mediaFormat('mp4');

    expect(chunkClock(video, undefined, mp4)).toEqual({
      filters: ['setpts=round(PTS-0.500000/TB)', 'settb=1001/30000'],
      args: [...['-fps_mode:v:0', 'passthrough', '-enc_time_base:v:0', '1001/30000'], ...['-movie_timescale', '30000']],
    });
    expect(chunkClock(irregular, undefined, mp4).args.join(' ')).toContain('-enc_time_base:v:0 1/12800');
    expect(chunkClock(video, 25, mediaFormat('mkv'))).toEqual({ filters: [], args: ['-fps_mode:v:0', 'passthrough'] });
  });

  it('is joined at the time that its pictures have in a whole run', () => {
    const joined = { list: 'list', start: 0.25, sound: [] };
    const timeOf = (args: string[]) => args[args.indexOf('-itsoffset') + 1];

    expect(timeOf(joinedInputs(joined, video, undefined, mediaFormat('mp4')))).toBe('0.750000');
    expect(timeOf(joinedInputs(joined, video, 25, mediaFormat('mp4')))).toBe('0.250000');
  });
});
