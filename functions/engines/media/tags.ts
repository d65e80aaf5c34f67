/** Names of tags that are not copied. */
export interface TagNames {
  ofContainer: string[];
  identifying: string[];
  identifyingTracks: string[];
}

type Tags = Record<string, string>;

/** Tags that describe the container of the input, not its content. */
const containerTags = /^(?:major_brand|minor_version|compatible_brands|duration|(?:company|product)_\w+)$/i;
/** Tags that identify the place or device of a recording, in QuickTime, Android, Matroska, ID3 and Broadcast Wave. */
const identifyingTags =
  /location|gps|iso6709|(?:^|[.\s_:-])(?:xyz|make|model(?:name)?|manufacturer|serial\w*|device\w*|camera\w*|lens\w*|software|firmware\w*|encoder|originator|umid|android\.version|content\.identifier)(?:$|[.\s_:-])/i;

/** Programs that write their own name as the track name. */
const cameraBrands = /gopro|dji|insta360|garmin|core media|apple/i;

/** Finds the tags of a file and its streams that are not copied, by ffprobe's names. */
export function tagsOf(tags: Tags, streams: { tags: Tags }[]): TagNames {
  // In ffmpeg a name ends at the first equals sign.
  const names = (all: Tags) => Object.keys(all).filter((name) => !name.includes('='));
  const identifies = (name: string) => identifyingTags.test(name);
  // In Broadcast Wave it is only a time of day, to which today's date would be added.
  const { creation_time: created = '' } = tags;
  const isUndated = created !== '' && !/^\d{4}-/.test(created);
  return {
    ofContainer: [...names(tags).filter((name) => containerTags.test(name)), ...(isUndated ? ['creation_time'] : [])],
    identifying: names(tags).filter(identifies),
    identifyingTracks: [
      ...new Set(
        streams.flatMap(({ tags: own }) =>
          names(own).filter(
            (name) => identifies(name) || (name === 'handler_name' && cameraBrands.test(own[name] ?? '')),
          ),
        ),
      ),
    ],
  };
}
