import Hls from 'hls.js';
import type { Played } from '../engines/media/played.ts';

/** Plays the stream, in another rendition after each segment. */
async function play(): Promise<Played> {
  const video = document.querySelector('video');
  if (!video) throw new Error('The page has no video.');
  const hls = new Hls({ startLevel: 0, subtitlePreference: { lang: 'en' } });
  const played: Played = {
    errors: [],
    levels: [],
    buffered: [],
    shown: [],
    tracks: [],
    cues: [],
    duration: 0,
  };
  hls.on(Hls.Events.ERROR, (_, { details }) => played.errors.push(details));
  hls.on(Hls.Events.FRAG_BUFFERED, (_, { frag }) => {
    if (frag.type !== 'main' || frag.sn === 'initSegment') return;
    played.levels.push(frag.level);
    hls.nextLoadLevel = 1 - frag.level;
  });
  const showing = (_: number, { mediaTime }: { mediaTime: number }) => {
    played.shown.push(mediaTime);
    video.requestVideoFrameCallback(showing);
  };
  video.requestVideoFrameCallback(showing);
  const ended = new Promise((resolve) => video.addEventListener('ended', resolve));
  hls.loadSource('master.m3u8');
  hls.attachMedia(video);
  hls.once(Hls.Events.SUBTITLE_TRACKS_UPDATED, () => {
    hls.subtitleTrack = 0;
  });
  await video.play();
  await ended;
  const { buffered } = video;
  played.buffered = Array.from({ length: buffered.length }, (_, at) => [buffered.start(at), buffered.end(at)]);
  played.tracks = hls.audioTracks.map(({ name, lang }) => `${name} ${lang}`);
  played.cues = [...(video.textTracks[0]?.cues ?? [])].map((cue) => [
    cue.startTime,
    cue.endTime,
    cue instanceof VTTCue ? cue.text : '',
  ]);
  played.duration = video.duration;
  return played;
}

Object.assign(window, { played: play().then((played) => JSON.stringify(played)) });
