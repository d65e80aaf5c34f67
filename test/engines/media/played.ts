/** What hls.js and the browser say of a stream that was played to its end. */
export interface Played {
  errors: string[];
  levels: number[];
  /** Ranges of time that were buffered before the end. */
  buffered: [number, number][];
  /** Times of the shown pictures. */
  shown: number[];
  tracks: string[];
  cues: [number, number, string][];
  duration: number;
}
