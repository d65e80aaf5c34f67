import type { Option } from '../service/types.ts';

const basic = new Set(
  (
    'quality png_convert_quality lossless image_custom_width image_custom_height image_resize_percentage width height ' +
    'rotate video_resolution trim_start trim_end cut_start_video_to_gif cut_end_gif video_custom_width_gif gif_fps ' +
    'frame_time page_size page_orientation page_range margin pdf_page_size pdf_orientation image_quality viewport_width ' +
    'full_page password sheet csv_delimiter book_title book_author gif_delay ico_sizes x y aspect trim_mode ' +
    'compress_image compress_video compress_audio compress_pdf image_compress_quality image_compress_percentage ' +
    'image_compress_max_filesize video_compress_quality_percentage video_compress_max_filesize ' +
    'audio_compress_percentage audio_compress_max_filesize pdf_compress_quality pdf_compress_percentage ' +
    'pdf_compress_max_filesize compression_level'
  ).split(' '),
);

const video = /^video_|^(?:fps|preset|profile|compatibility|subtitles_mode|faststart)$/;
const audio = /^audio_|^(?:sample_rate|channels|volume)$/;

/** Options that have the same effect as another, for clients of other services. The page shows the other one. */
const seconds: Record<string, string> = {
  jpg_convert_compression_level: 'quality',
  sample_rate: 'audio_frequency',
  video_custom_width_gif: 'image_custom_width',
  width: 'image_custom_width',
  height: 'image_custom_height',
};

export interface OptionGroup {
  title: 'Basic' | 'Video' | 'Audio' | 'Advanced';
  options: Option[];
}

/** Groups options by what they concern. Leaves out those without a value that repeat another. */
export function groupOptions(options: Option[], values: Record<string, unknown>): OptionGroup[] {
  const names = new Set(options.map(({ name }) => name));
  const shown = options.filter(({ name }) => name in values || !names.has(seconds[name] ?? ''));
  const groups = Map.groupBy(shown, groupOf);
  const titles = ['Basic', 'Video', 'Audio', 'Advanced'] as const;
  return titles.flatMap((title) => {
    const own = groups.get(title);
    return own ? [{ title, options: own }] : [];
  });
}

function groupOf({ name }: Option): OptionGroup['title'] {
  if (basic.has(name)) return 'Basic';
  if (audio.test(name)) return 'Audio';
  return video.test(name) ? 'Video' : 'Advanced';
}

/** Returns labels that are unique among the options shown, by option name. */
export function labelsOf(groups: OptionGroup[]): Map<string, string> {
  const all = groups.flatMap(({ options }) => options);
  const counts = Map.groupBy(all, labelOf);
  return new Map(
    all.map((option) => {
      const label = labelOf(option);
      return [option.name, (counts.get(label)?.length ?? 0) > 1 ? `${label} (${titleOf(option.name)})` : label];
    }),
  );
}

function labelOf({ label, name }: Option): string {
  return label ?? titleOf(name);
}

const spellings: Record<string, string> = { srgb: 'sRGB', cmyk: 'CMYK', lzw: 'LZW', jpeg: 'JPEG', url: 'URL' };

/** Returns the name of a parameter or value in sentence case. */
export function titleOf(name: string): string {
  const words = (spellings[name] ?? name).replaceAll('_', ' ');
  return /^[a-z]+[A-Z]/.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1);
}
