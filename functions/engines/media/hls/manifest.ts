import type { TrackName } from './languages.ts';
import type { StreamPackage } from './package.ts';
import type { Segment } from './segments.ts';

/** Writes the manifest of DASH for the segments that the playlists of HLS list. */
export function manifest({
  videos,
  sounds,
  captions,
  sprites,
  frameRate,
  seconds,
  segmentSeconds,
}: StreamPackage): string {
  const total = `PT${seconds.toFixed(3)}S`;
  const [first] = videos;
  const sets = [
    ...(first
      ? [
          [
            '<AdaptationSet contentType="video" mimeType="video/mp4" segmentAlignment="true" startWithSAP="1">',
            ...indented(template(first.track.timescale, first.segments)),
            ...videos.map(
              ({ name, size, track, rates }) =>
                `  <Representation id="${name}" bandwidth="${rates.peak}" codecs="${track.codec}" width="${size.width}" height="${size.height}" frameRate="${frameRate}" sar="1:1"/>`,
            ),
            '</AdaptationSet>',
          ],
        ]
      : []),
    ...sounds.map(({ name, label, track, segments, rates, rate, channels }, at) => [
      `<AdaptationSet contentType="audio" mimeType="audio/mp4"${lang(label)} segmentAlignment="true" startWithSAP="1">`,
      ...describe(label, at === 0 ? 'main' : 'alternate'),
      ...indented(template(track.timescale, segments)),
      `  <Representation id="${name}" bandwidth="${rates.peak}" codecs="${track.codec}" audioSamplingRate="${rate}">`,
      `    <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="${channels}"/>`,
      '  </Representation>',
      '</AdaptationSet>',
    ]),
    ...captions.map(({ name, label, bytes }) => [
      `<AdaptationSet contentType="text" mimeType="text/vtt"${lang(label)}>`,
      ...describe(label, 'subtitle'),
      `  <Representation id="${name}" bandwidth="${Math.ceil((bytes * 8) / Math.max(1, seconds))}">`,
      `    <BaseURL>${name}/all.vtt</BaseURL>`,
      '  </Representation>',
      '</AdaptationSet>',
    ]),
    ...(sprites ? [spriteSet(sprites)] : []),
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-live:2011" mediaPresentationDuration="${total}" minBufferTime="PT${segmentSeconds}S">`,
    `  <Period id="1" start="PT0S" duration="${total}">`,
    ...sets.flat().map((line) => `    ${line}`),
    '  </Period>',
    '</MPD>',
    '',
  ].join('\n');
}

/** The rate of a sprite is that of a picture that takes a moment to load. */
const spriteBandwidth = 100_000;

function spriteSet({ interval, thumbnail, columns, rows }: NonNullable<StreamPackage['sprites']>): string[] {
  const [width, height] = [thumbnail.width * columns, thumbnail.height * rows];
  return [
    '<AdaptationSet contentType="image" mimeType="image/jpeg">',
    `  <SegmentTemplate media="$RepresentationID$/$Number%03d$.jpg" duration="${interval * columns * rows}" timescale="1" startNumber="1"/>`,
    `  <Representation id="thumbnails" bandwidth="${spriteBandwidth}" width="${width}" height="${height}">`,
    `    <EssentialProperty schemeIdUri="http://dashif.org/guidelines/thumbnail_tile" value="${columns}x${rows}"/>`,
    '  </Representation>',
    '</AdaptationSet>',
  ];
}

function template(timescale: number, segments: Segment[]): string[] {
  const entries: { start: number; units: number; repeats: number }[] = [];
  for (const segment of segments) {
    const start = Math.round(segment.start * timescale);
    const units = Math.round((segment.start + segment.seconds) * timescale) - start;
    const last = entries.at(-1);
    if (last?.units === units) last.repeats += 1;
    else entries.push({ start, units, repeats: 0 });
  }
  return [
    `<SegmentTemplate timescale="${timescale}" initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number%05d$.m4s" startNumber="1">`,
    '  <SegmentTimeline>',
    ...entries.map(
      ({ start, units, repeats }) => `    <S t="${start}" d="${units}"${repeats > 0 ? ` r="${repeats}"` : ''}/>`,
    ),
    '  </SegmentTimeline>',
    '</SegmentTemplate>',
  ];
}

function describe({ name }: TrackName, role: 'main' | 'alternate' | 'subtitle'): string[] {
  return [`  <Label>${name}</Label>`, `  <Role schemeIdUri="urn:mpeg:dash:role:2011" value="${role}"/>`];
}

function lang({ language }: TrackName): string {
  return language === undefined ? '' : ` lang="${language}"`;
}

function indented(lines: string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
