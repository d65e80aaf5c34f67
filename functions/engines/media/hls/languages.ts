const names = new Intl.DisplayNames(['en'], { type: 'language' });

/** The language of a track and the name that players show for it. */
export interface TrackName {
  /** As in BCP 47. */
  language: string | undefined;
  name: string;
}

/** Names the tracks of a kind by their languages. Names are unique, because players tell tracks apart by them. */
export function trackNames(kind: 'Audio' | 'Subtitles', tracks: { language?: string | undefined }[]): TrackName[] {
  const taken = new Map<string, number>();
  return tracks.map((track) => {
    const language = languageTag(track.language);
    const name = ((language && names.of(language)) ?? kind).replace(/["&<>]/g, '');
    const number = (taken.get(name) ?? 0) + 1;
    taken.set(name, number);
    return { language, name: number === 1 ? name : `${name} ${number}` };
  });
}

/** Returns the shortest code of a language, as BCP 47 requires: `de` of `ger` or `deu`. */
function languageTag(code: string | undefined): string | undefined {
  if (code === undefined || !/^[a-z]{2,3}$/.test(code)) return undefined;
  return Intl.getCanonicalLocales(code)[0];
}
