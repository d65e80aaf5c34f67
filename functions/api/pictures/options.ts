/**
 * The processing options of imgproxy 4, by name. Options apply in the order of the URL, and arguments that are left out keep
 * the value of an earlier option or preset: `g:no:0:10/g:so` has the offsets of the first with the type of the second.
 */
import { suggestion } from '../../../shared/operations/nearest-name.ts';
import {
  defaultPicture,
  extendGravityTypes,
  type Gravity,
  type GravityType,
  gravityTypes,
  type PictureFormat,
  type PictureLimits,
  type PictureSpec,
  type ResizingType,
  resizingTypes,
  type WatermarkPosition,
  watermarkPositions,
} from '../../../shared/pictures/picture.ts';
import { insufficientPermission, invalidFields, notFound } from '../http/errors.ts';
import { choice, color, decimal, flag, format, integer, positive, proOnly, unexpected } from './arguments.ts';

/** Bounds of what a URL can ask for. imgproxy has almost none. */
export const bounds = {
  /** The largest dimension of AVIF. */
  dimension: 16_384,
  /** The largest dimension of JPEG, since crops are sizes of the source. */
  crop: 65_535,
  zoom: 16,
  /** The same as imgproxy allows in client hints. */
  dpr: 8,
  padding: 4_096,
  /** The time of a blur is proportional to its sigma. */
  blur: 100,
  /** The maximum of libvips. */
  sharpen: 10,
  trimThreshold: 65_535,
  offset: 65_535,
  /** Relative to the result. A watermark is scaled as a whole, even if only a part of it is visible. */
  watermarkScale: 2,
  /** With an extension, it fits into the 255 characters that file systems allow. */
  filename: 200,
  maxBytes: 1_000_000_000,
  /** The end of the year 9999 in seconds. */
  time: 253_402_300_799,
} as const;

/** An option as it is in the URL. */
export interface UrlOption {
  name: string;
  /** At least one, since an option without arguments is not recognized as one. */
  args: readonly string[];
}

interface GravityDraft {
  type?: GravityType;
  x?: number | undefined;
  y?: number | undefined;
}

/** The arguments that have been set so far. Defaults apply at the end, because omitted arguments copy set ones only. */
export interface Draft {
  type?: ResizingType;
  width?: number;
  height?: number;
  minWidth?: number;
  minHeight?: number;
  zoomX?: number;
  zoomY?: number;
  dpr?: number;
  enlarge?: boolean;
  extend?: boolean;
  extendAspectRatio?: boolean;
  gravity: GravityDraft;
  extendGravity: GravityDraft;
  extendAspectRatioGravity: GravityDraft;
  cropGravity: GravityDraft;
  cropWidth?: number;
  cropHeight?: number;
  trimThreshold?: number | undefined;
  trimColor?: string | undefined;
  trimEqualHorizontal?: boolean;
  trimEqualVertical?: boolean;
  padding: { [Side in keyof PictureSpec['padding']]?: number | undefined };
  flip: { horizontal?: boolean; vertical?: boolean };
  watermark: { opacity?: number; position?: WatermarkPosition; x?: number; y?: number; scale?: number };
  formatQuality: Partial<Record<PictureFormat, number>>;
  skipProcessing: Set<PictureFormat>;
  /** Options with one argument whose value needs no further interpretation. */
  simple: Partial<PictureSpec>;
  limits: PictureLimits;
}

/** What options depend on apart from their arguments. */
export interface OptionContext {
  /** Unix time in seconds. */
  now: number;
  /** Whether options may change the limits. They can only lower them. */
  securityOptions: boolean;
  limits: Readonly<PictureLimits>;
}

interface Option {
  names: readonly [string, ...string[]];
  maxArguments: number;
  apply: (draft: Draft, args: readonly string[], context: OptionContext) => void;
}

/** Returns a draft without options. */
export function emptyDraft(limits: Readonly<PictureLimits>): Draft {
  return {
    gravity: {},
    extendGravity: {},
    extendAspectRatioGravity: {},
    cropGravity: {},
    padding: {},
    flip: {},
    watermark: {},
    formatQuality: {},
    skipProcessing: new Set(),
    simple: {},
    limits: { ...limits },
  };
}

/** Returns an option of one argument. */
function single(
  names: Option['names'],
  apply: (draft: Draft, argument: string, name: string, context: OptionContext) => void,
): Option {
  return { names, maxArguments: 1, apply: (draft, [first = ''], context) => apply(draft, first, names[0], context) };
}

/** Returns an option that is a switch of the spec. */
function toggle(
  names: Option['names'],
  property: keyof { [K in keyof PictureSpec as PictureSpec[K] extends boolean ? K : never]: true },
): Option {
  return single(names, (draft, argument) => {
    draft.simple[property] = flag(argument);
  });
}

/** Returns an option that changes a limit. Zero means the limit of the service, where imgproxy means none. */
function limit(
  names: Option['names'],
  property: keyof PictureLimits,
  parse: (name: string, argument: string, max: number) => number,
): Option {
  return single(names, (draft, argument, name, { securityOptions, limits }) => {
    if (!securityOptions) throw insufficientPermission(`${name}: The key does not allow options that change limits.`);
    const max = limits[property] || Number.MAX_SAFE_INTEGER;
    draft.limits[property] = parse(name, argument, max) || limits[property];
  });
}

const megapixels = (name: string, argument: string, max: number) =>
  Math.trunc(decimal(name, argument, 0, max / 1_000_000) * 1_000_000);
const amount = (name: string, argument: string, max: number) => integer(name, argument, 0, max);

const options: readonly Option[] = [
  {
    names: ['resize', 'rs'],
    maxArguments: 8,
    apply: (draft, [type = '', ...size]) => {
      if (type) draft.type = choice('resizing_type', type, resizingTypes);
      applySize(draft, size);
    },
  },
  { names: ['size', 's'], maxArguments: 7, apply: applySize },
  single(['resizing_type', 'rt'], (draft, argument, name) => {
    draft.type = choice(name, argument, resizingTypes);
  }),
  single(['width', 'w'], (draft, argument, name) => {
    draft.width = dimension(name, argument);
  }),
  single(['height', 'h'], (draft, argument, name) => {
    draft.height = dimension(name, argument);
  }),
  single(['min-width', 'mw'], (draft, argument, name) => {
    draft.minWidth = dimension(name, argument);
  }),
  single(['min-height', 'mh'], (draft, argument, name) => {
    draft.minHeight = dimension(name, argument);
  }),
  {
    names: ['zoom', 'z'],
    maxArguments: 2,
    apply: (draft, [x = '', y = x]) => {
      draft.zoomX = positive('zoom', x, bounds.zoom);
      draft.zoomY = positive('zoom', y, bounds.zoom);
    },
  },
  single(['dpr'], (draft, argument, name) => {
    draft.dpr = positive(name, argument, bounds.dpr);
  }),
  single(['enlarge', 'el'], (draft, argument) => {
    draft.enlarge = flag(argument);
  }),
  { names: ['extend', 'ex'], maxArguments: 4, apply: applyExtend },
  {
    names: ['extend_aspect_ratio', 'extend_ar', 'exar'],
    maxArguments: 4,
    apply: (draft, [enabled = '', ...gravity]) => {
      draft.extendAspectRatio = flag(enabled);
      if (gravity.length > 0)
        applyGravity('extend_aspect_ratio', draft.extendAspectRatioGravity, gravity, extendGravityTypes);
    },
  },
  {
    names: ['gravity', 'g'],
    // The object gravities of imgproxy Pro have any number; the error should be that they are not supported.
    maxArguments: Number.POSITIVE_INFINITY,
    apply: (draft, args) => applyGravity('gravity', draft.gravity, args, gravityTypes),
  },
  {
    names: ['crop', 'c'],
    maxArguments: Number.POSITIVE_INFINITY,
    apply: (draft, [width = '', height, ...gravity]) => {
      draft.cropWidth = decimal('crop', width, 0, bounds.crop);
      if (height !== undefined) draft.cropHeight = decimal('crop', height, 0, bounds.crop);
      if (gravity.length > 0) applyGravity('crop', draft.cropGravity, gravity, gravityTypes);
    },
  },
  {
    names: ['trim', 't'],
    maxArguments: 4,
    apply: (draft, [threshold = '', trimColor = '', horizontal = '', vertical = '']) => {
      draft.trimThreshold = threshold ? decimal('trim', threshold, 0, bounds.trimThreshold) : undefined;
      draft.trimColor = trimColor ? color('trim', trimColor) : undefined;
      if (horizontal) draft.trimEqualHorizontal = flag(horizontal);
      if (vertical) draft.trimEqualVertical = flag(vertical);
    },
  },
  { names: ['padding', 'pd'], maxArguments: 4, apply: ({ padding }, args) => applyPadding(padding, args) },
  toggle(['auto_rotate', 'ar'], 'autoRotate'),
  single(['rotate', 'rot'], (draft, argument, name) => {
    const angle = integer(name, argument, -360_000, 360_000);
    const turns = (((angle / 90) % 4) + 4) % 4;
    const rotate = ([0, 90, 180, 270] as const)[turns];
    if (rotate === undefined) throw unexpected(name, 'a multiple of 90', argument);
    draft.simple.rotate = rotate;
  }),
  {
    names: ['flip', 'fl'],
    maxArguments: 2,
    apply: ({ flip }, [horizontal = '', vertical = '']) => {
      if (horizontal) flip.horizontal = flag(horizontal);
      if (vertical) flip.vertical = flag(vertical);
    },
  },
  {
    names: ['background', 'bg'],
    maxArguments: 3,
    apply: (draft, args) => {
      draft.simple.background = backgroundOf(args);
    },
  },
  single(['blur', 'bl'], (draft, argument, name) => {
    draft.simple.blur = decimal(name, argument, 0, bounds.blur);
  }),
  single(['sharpen', 'sh'], (draft, argument, name) => {
    draft.simple.sharpen = decimal(name, argument, 0, bounds.sharpen);
  }),
  single(['pixelate', 'pix'], (draft, argument, name) => {
    draft.simple.pixelate = dimension(name, argument);
  }),
  // imgproxy reads five arguments but accepts seven.
  { names: ['watermark', 'wm'], maxArguments: 7, apply: ({ watermark }, args) => applyWatermark(watermark, args) },
  toggle(['strip_metadata', 'sm'], 'stripMetadata'),
  toggle(['keep_copyright', 'kcr'], 'keepCopyright'),
  toggle(['strip_color_profile', 'scp'], 'stripColorProfile'),
  toggle(['preserve_hdr', 'ph'], 'preserveHdr'),
  toggle(['enforce_thumbnail', 'eth'], 'enforceThumbnail'),
  single(['quality', 'q'], (draft, argument, name) => {
    draft.simple.quality = integer(name, argument, 0, 100);
  }),
  {
    names: ['format_quality', 'fq'],
    maxArguments: Number.POSITIVE_INFINITY,
    apply: ({ formatQuality }, args) => {
      for (let index = 0; index < args.length; index += 2)
        formatQuality[format('format_quality', args[index] ?? '')] = integer(
          'format_quality',
          args[index + 1] ?? '',
          0,
          100,
        );
    },
  },
  single(['max_bytes', 'mb'], (draft, argument, name) => {
    draft.simple.maxBytes = integer(name, argument, 0, bounds.maxBytes);
  }),
  single(['format', 'f', 'ext'], (draft, argument, name) => {
    draft.simple.format = format(name, argument);
  }),
  {
    // imgproxy does not know `sp`, but its JavaScript client writes it.
    names: ['skip_processing', 'skp', 'sp'],
    maxArguments: Number.POSITIVE_INFINITY,
    apply: ({ skipProcessing }, args) => {
      for (const argument of args) skipProcessing.add(format('skip_processing', argument));
    },
  },
  toggle(['raw'], 'raw'),
  single(['cachebuster', 'cb'], (draft, argument) => {
    draft.simple.cachebuster = argument || null;
  }),
  single(['expires', 'exp'], (draft, argument, name, { now }) => {
    const time = integer(name, argument, -bounds.time, bounds.time);
    if (time > 0 && time < now) throw notFound('The URL has expired.');
    draft.simple.expires = time > 0 ? time : null;
  }),
  {
    names: ['filename', 'fn'],
    maxArguments: 2,
    apply: (draft, [name = '', isEncoded = '']) => {
      draft.simple.filename = filenameOf(name, flag(isEncoded));
    },
  },
  toggle(['return_attachment', 'att'], 'returnAttachment'),
  limit(['max_src_resolution', 'msr'], 'maxSrcResolution', megapixels),
  limit(['max_src_file_size', 'msfs'], 'maxSrcFileSize', amount),
  limit(['max_animation_frames', 'maf'], 'maxAnimationFrames', amount),
  limit(['max_animation_frame_resolution', 'mafr'], 'maxAnimationFrameResolution', megapixels),
  limit(['max_result_dimension', 'mrd'], 'maxResultDimension', amount),
];

const optionsByName = new Map(options.flatMap((option) => option.names.map((name) => [name, option] as const)));

/** The options that only imgproxy Pro has, each with its short names. */
const proOptions = [
  ['resizing_algorithm', 'ra'],
  ['objects_position', 'obj_pos', 'op'],
  ['crop_aspect_ratio', 'crop_ar', 'car'],
  ['crop_objects', 'c_obj'],
  ['background_alpha', 'bga'],
  ['adjust', 'a'],
  ['brightness', 'br'],
  ['contrast', 'co'],
  ['saturation', 'sa'],
  ['monochrome', 'mc'],
  ['duotone', 'dt'],
  ['unsharp_masking', 'ush'],
  ['blur_areas', 'ba'],
  ['progressive_blur', 'pbl'],
  ['blur_detections', 'bd'],
  ['draw_detections', 'dd'],
  ['colorize', 'col'],
  ['gradient', 'gr'],
  ['watermark_url', 'wmu'],
  ['watermark_text', 'wmt'],
  ['watermark_size', 'wms'],
  ['watermark_rotate', 'wm_rot', 'wmr'],
  ['watermark_shadow', 'wmsh'],
  ['style', 'st'],
  ['dpi'],
  ['color_profile', 'cp', 'icc'],
  ['autoquality', 'aq'],
  ['jpeg_options', 'jpgo'],
  ['png_options', 'pngo'],
  ['webp_options', 'webpo'],
  ['avif_options', 'avifo'],
  ['page', 'pg'],
  ['pages', 'pgs'],
  ['disable_animation', 'da'],
  ['video_thumbnail_second', 'vts'],
  ['video_thumbnail_keyframes', 'vtk'],
  ['video_thumbnail_tile', 'vtt'],
  ['video_thumbnail_animation', 'vta'],
  ['fallback_image_url', 'fiu'],
  ['bypass_cache', 'bc'],
  ['cache_tags', 'ct'],
  ['hashsum', 'hs'],
] as const;

const proNames = new Map<string, string>(proOptions.flatMap((names) => names.map((name) => [name, names[0]] as const)));

/** Applies an option to a draft. Returns the full name of the option. */
export function applyOption(draft: Draft, { name, args }: UrlOption, context: OptionContext): string {
  const option = optionsByName.get(name);
  if (option === undefined) throw unknownOption(name);
  const [fullName] = option.names;
  if (args.length > option.maxArguments)
    throw unexpected(fullName, `at most ${option.maxArguments} arguments`, args.join(':'));
  option.apply(draft, args, context);
  return fullName;
}

function unknownOption(name: string) {
  const proName = proNames.get(name);
  if (proName !== undefined) return proOnly(name, `The option ${proName}`);
  return invalidFields({ [name]: [`Unknown processing option.${suggestion(name, optionsByName.keys())}`] });
}

/** Returns the spec of a draft, with defaults for all that is not set. */
export function specOf(draft: Draft): PictureSpec {
  const spec = { ...defaultPicture(), ...draft.simple };
  const { type, width, height, minWidth, minHeight, zoomX, zoomY, dpr, enlarge, watermark } = draft;
  const resize = { type, width, height, minWidth, minHeight, zoomX, zoomY, dpr, enlarge };
  const gravity = gravityOf(draft.gravity);
  return {
    ...spec,
    resize: withDefaults(resize, spec.resize),
    gravity,
    extend: draft.extend ? gravityOf(draft.extendGravity) : null,
    extendAspectRatio: draft.extendAspectRatio ? gravityOf(draft.extendAspectRatioGravity) : null,
    crop:
      draft.cropWidth || draft.cropHeight
        ? {
            width: draft.cropWidth ?? 0,
            height: draft.cropHeight ?? 0,
            gravity: draft.cropGravity.type === undefined ? { ...gravity } : gravityOf(draft.cropGravity),
          }
        : null,
    trim:
      draft.trimThreshold === undefined
        ? null
        : {
            threshold: draft.trimThreshold,
            color: draft.trimColor ?? null,
            equalHorizontal: draft.trimEqualHorizontal ?? false,
            equalVertical: draft.trimEqualVertical ?? false,
          },
    padding: withDefaults(draft.padding, spec.padding),
    flip: withDefaults(draft.flip, spec.flip),
    watermark: watermark.opacity
      ? withDefaults<NonNullable<PictureSpec['watermark']>>(watermark, {
          opacity: 0,
          position: 'ce',
          x: 0,
          y: 0,
          scale: 0,
        })
      : null,
    formatQuality: { ...draft.formatQuality },
    skipProcessing: [...draft.skipProcessing],
    limits: { ...draft.limits },
  };
}

/** Returns an object with defaults for the properties that are absent or undefined. */
function withDefaults<T extends object>(values: { [K in keyof T]?: T[K] | undefined }, defaults: T): T {
  return { ...defaults, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) };
}

function gravityOf({ type = 'ce', x = 0, y = 0 }: GravityDraft): Gravity {
  return { type, x, y };
}

function dimension(option: string, argument: string): number {
  return integer(option, argument, 0, bounds.dimension);
}

function applySize(draft: Draft, [width = '', height = '', enlarge = '', ...extend]: readonly string[]): void {
  if (width) draft.width = dimension('width', width);
  if (height) draft.height = dimension('height', height);
  if (enlarge) draft.enlarge = flag(enlarge);
  if (extend[0]) applyExtend(draft, extend);
}

function applyExtend(draft: Draft, [enabled = '', ...gravity]: readonly string[]): void {
  draft.extend = flag(enabled);
  if (gravity.length > 0) applyGravity('extend', draft.extendGravity, gravity, extendGravityTypes);
}

function applyGravity(
  option: string,
  gravity: GravityDraft,
  args: readonly string[],
  types: readonly GravityType[],
): void {
  const [type = '', x = '', y = ''] = args;
  if (type === 'obj' || type === 'objw') throw proOnly(option, `The gravity ${type}`);
  gravity.type = choice(option, type, types);
  if (gravity.type === 'sm') {
    if (args.length > 1) throw unexpected(option, 'no offsets with the gravity sm', args.join(':'));
    gravity.x = undefined;
    gravity.y = undefined;
    return;
  }
  const isPoint = gravity.type === 'fp';
  if (isPoint && args.length !== 3) throw unexpected(option, 'fp:<x>:<y>', args.join(':'));
  if (args.length > 3) throw unexpected(option, '<type>:<x>:<y>', args.join(':'));
  const [min, max] = isPoint ? [0, 1] : [-bounds.offset, bounds.offset];
  if (x) gravity.x = decimal(option, x, min, max);
  if (y) gravity.y = decimal(option, y, min, max);
}

/** Applies padding as in CSS: without an argument, the left copies the right, and the others copy the top. */
function applyPadding(
  padding: Draft['padding'],
  [top = '', right = '', bottom = '', left = '']: readonly string[],
): void {
  const read = (argument: string) => integer('padding', argument, 0, bounds.padding);
  if (top) padding.top = read(top);
  padding.right = right ? read(right) : (padding.top ?? padding.right);
  padding.bottom = bottom ? read(bottom) : (padding.top ?? padding.bottom);
  padding.left = left ? read(left) : (padding.right ?? padding.left);
}

function backgroundOf(args: readonly string[]): string | null {
  if (args.length === 3)
    return args.map((channel) => integer('background', channel, 0, 255).toString(16).padStart(2, '0')).join('');
  if (args.length !== 1) throw unexpected('background', '<red>:<green>:<blue> or a hexadecimal colour', args.join(':'));
  return args[0] ? color('background', args[0]) : null;
}

function applyWatermark(
  watermark: Draft['watermark'],
  [opacity = '', position = '', x = '', y = '', scale = '']: readonly string[],
): void {
  watermark.opacity = decimal('watermark', opacity, 0, 1);
  if (position === 'ch') throw proOnly('watermark', 'The position ch');
  if (position) watermark.position = choice('watermark', position, watermarkPositions);
  // Offsets become padding if the watermark is repeated.
  if (x) watermark.x = decimal('watermark', x, -bounds.padding, bounds.padding);
  if (y) watermark.y = decimal('watermark', y, -bounds.padding, bounds.padding);
  // imgproxy documents 0, and its JavaScript client writes it, but its parser does not accept it.
  if (scale) watermark.scale = decimal('watermark', scale, 0, bounds.watermarkScale);
}

function filenameOf(text: string, isEncoded: boolean): string | null {
  const name = isEncoded ? decodeBase64(text) : decodePercent(text);
  if (name === undefined)
    throw unexpected('filename', isEncoded ? 'URL-safe base64 of UTF-8' : 'percent-encoded UTF-8', text);
  if (name.length > bounds.filename) throw unexpected('filename', `at most ${bounds.filename} characters`, name);
  if (hasControls(name)) throw unexpected('filename', 'no control characters', name);
  return name || null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes URL-safe base64 of UTF-8, with or without padding. Returns undefined if it is invalid. */
export function decodeBase64(text: string): string | undefined {
  let end = text.length;
  while (text[end - 1] === '=') end--;
  const digits = text.slice(0, end);
  if (!/^[\w-]*$/.test(digits) || digits.length % 4 === 1) return undefined;
  try {
    return utf8.decode(Buffer.from(digits, 'base64url'));
  } catch {
    return undefined;
  }
}

/** Decodes percent-encoded UTF-8. Returns undefined if it is invalid. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a text has control characters, which are invalid in headers and URLs. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
