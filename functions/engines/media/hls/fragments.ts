import { open } from 'node:fs/promises';
import { type Box, boxes, read, topBoxes } from '../container.ts';
import type { Size } from '../plan.ts';

/** A fragment of an MP4 of one track: a `moof` and its `mdat`. Times are in seconds. */
export interface Fragment {
  at: number;
  bytes: number;
  start: number;
  seconds: number;
  /** Bytes up to the end of its first sample. */
  firstSampleBytes: number;
  /** Whether players can start at its first sample. */
  isKey: boolean;
}

/** A track in a fragmented MP4. */
export interface Track {
  path: string;
  /** Bytes before the first fragment, which initialize a decoder. */
  initBytes: number;
  /** Units per second of its times. */
  timescale: number;
  /** As in RFC 6381. */
  codec: string;
  size: Size | undefined;
  fragments: Fragment[];
}

/** More than half a day of one-second fragments, with two boxes each. */
const maxBoxes = 200_000;
const maxHeaderBytes = 16_000_000;

/** Reads the index of a fragmented MP4 of one track, as ffmpeg wrote it. */
export async function readTrack(path: string): Promise<Track | undefined> {
  const file = await open(path);
  try {
    const { size: fileBytes } = await file.stat();
    let header: Buffer | undefined;
    let initBytes = 0;
    let moof: { at: number; index: Buffer } | undefined;
    const raw: RawFragment[] = [];
    for await (const { type, at, length } of topBoxes(file, fileBytes, maxBoxes)) {
      if (length > fileBytes - at) throw new Error(`The fragmented file ends within ${type}.`);
      if (type === 'moov' || type === 'moof') {
        if (length > maxHeaderBytes) throw new Error(`The fragmented file has a ${type} of ${length} bytes.`);
        const index = await read(file, at, length);
        if (type === 'moof') moof = { at, index };
        else [header, initBytes] = [index, at + length];
      }
      if (type === 'mdat' && moof) {
        raw.push({ ...readFragment(moof.index), at: moof.at, bytes: at + length - moof.at });
        moof = undefined;
      }
    }
    if (!header || raw.length === 0) return undefined;
    const { timescale, codec, size } = readHeader(header);
    const fragments = raw.map((fragment, index): Fragment => {
      const next = raw[index + 1]?.start ?? fragment.start + fragment.units;
      const { at, bytes, start, firstSampleBytes, isKey } = fragment;
      return { at, bytes, firstSampleBytes, isKey, start: start / timescale, seconds: (next - start) / timescale };
    });
    return { path, initBytes, timescale, codec, size, fragments };
  } finally {
    await file.close();
  }
}

interface RawFragment extends Pick<Fragment, 'at' | 'bytes' | 'firstSampleBytes' | 'isKey'> {
  start: number;
  units: number;
}

function readFragment(index: Buffer): Pick<RawFragment, 'start' | 'units' | 'firstSampleBytes' | 'isKey'> {
  const track = find(index, { type: 'moof', from: 8, to: index.length }, 'traf');
  const defaults = defaultsOf(index, find(index, track, 'tfhd'));
  const time = find(index, track, 'tfdt').from;
  const start = index[time] === 1 ? Number(index.readBigUInt64BE(time + 4)) : index.readUInt32BE(time + 4);
  const run = find(index, track, 'trun').from;
  const flags = index.readUInt32BE(run) & 0xff_ffff;
  const count = index.readUInt32BE(run + 4);
  const fields = fieldReader(index, run + 8, flags);
  const dataOffset = fields(0x1) ?? 0;
  const firstFlags = fields(0x4);
  let units = 0;
  let first: { size: number; flags: number } | undefined;
  for (let sample = 0; sample < count; sample++) {
    units += fields(0x100) ?? defaults.duration;
    const size = fields(0x200) ?? defaults.size;
    const sampleFlags = fields(0x400) ?? defaults.flags;
    fields(0x800);
    first ??= { size, flags: firstFlags ?? sampleFlags };
  }
  const notSync = 0x1_0000;
  return {
    start,
    units,
    firstSampleBytes: dataOffset + (first?.size ?? 0),
    isKey: first !== undefined && (first.flags & notSync) === 0,
  };
}

/** Reads the optional fields of a box one after the other, if their flags are set. */
function fieldReader(index: Buffer, from: number, flags: number): (flag: number) => number | undefined {
  let at = from;
  return (flag) => {
    if ((flags & flag) === 0) return undefined;
    at += 4;
    return index.readUInt32BE(at - 4);
  };
}

function defaultsOf(index: Buffer, { from }: Box): { duration: number; size: number; flags: number } {
  const flags = index.readUInt32BE(from) & 0xff_ffff;
  const fields = fieldReader(index, from + 8 + (flags & 0x1 ? 8 : 0), flags);
  fields(0x2);
  return { duration: fields(0x8) ?? 0, size: fields(0x10) ?? 0, flags: fields(0x20) ?? 0 };
}

function readHeader(index: Buffer): Pick<Track, 'timescale' | 'codec' | 'size'> {
  const media = path(index, { type: 'moov', from: 8, to: index.length }, ['trak', 'mdia']);
  const header = find(index, media, 'mdhd').from;
  const timescale = index.readUInt32BE(header + (index[header] === 1 ? 20 : 12));
  const { from, to } = path(index, media, ['minf', 'stbl', 'stsd']);
  const [entry] = boxes(index, from + 8, to);
  if (!entry) throw new Error('The fragmented file describes no samples.');
  if (entry.type === 'mp4a') return { timescale, codec: 'mp4a.40.2', size: undefined };
  const size = { width: index.readUInt16BE(entry.from + 24), height: index.readUInt16BE(entry.from + 26) };
  const configuration = (type: string) => find(index, { ...entry, from: entry.from + 78 }, type);
  if (entry.type === 'avc1') {
    const at = configuration('avcC').from;
    return { timescale, codec: `avc1.${index.toString('hex', at + 1, at + 4)}`, size };
  }
  if (entry.type === 'hvc1') {
    const at = configuration('hvcC').from;
    return { timescale, codec: hevcCodec(index.subarray(at, at + 13)), size };
  }
  throw new Error(`The fragmented file has samples of type ${entry.type}.`);
}

/** Returns the name of a profile of HEVC by annex E of ISO 14496-15. */
function hevcCodec(configuration: Buffer): string {
  const general = configuration.readUInt8(1);
  const space = ['', 'A', 'B', 'C'][general >> 6] ?? '';
  let compatible = 0;
  for (let bit = 0; bit < 32; bit++) {
    if ((configuration.readUInt32BE(2) >>> bit) & 1) compatible += 2 ** (31 - bit);
  }
  const constraints = [...configuration.subarray(6, 12)];
  while (constraints.at(-1) === 0) constraints.pop();
  return [
    'hvc1',
    `${space}${general & 0x1f}`,
    compatible.toString(16).toUpperCase(),
    `${general & 0x20 ? 'H' : 'L'}${configuration.readUInt8(12)}`,
    ...constraints.map((byte) => byte.toString(16).toUpperCase()),
  ].join('.');
}

function path(index: Buffer, from: Box, types: string[]): Box {
  return types.reduce((box, type) => find(index, box, type), from);
}

function find(index: Buffer, { from, to, type: outer }: Box, type: string): Box {
  const box = boxes(index, from, to).find((known) => known.type === type);
  if (!box) throw new Error(`The fragmented file has no ${type} in its ${outer}.`);
  return box;
}
