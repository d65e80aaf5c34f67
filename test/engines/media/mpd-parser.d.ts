/** The part of the package's result that tests read. It has no types of its own. */
declare module 'mpd-parser' {
  export interface Playlist {
    attributes: {
      NAME: string;
      BANDWIDTH: number;
      CODECS?: string;
      RESOLUTION?: { width: number; height: number };
      'FRAME-RATE'?: number;
    };
    segments: { resolvedUri: string; duration: number; number: number; map?: { resolvedUri: string } }[];
  }
  type Group = Record<string, Record<string, { language: string; default: boolean; playlists: Playlist[] }>>;
  export function parse(
    manifest: string,
    options: { manifestUri: string },
  ): {
    duration: number;
    playlists: Playlist[];
    mediaGroups: { AUDIO: Group; SUBTITLES: Group };
  };
}
