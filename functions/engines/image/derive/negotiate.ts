/**
 * The choice of the output format, as in imgproxy with IMGPROXY_AUTO_AVIF and IMGPROXY_AUTO_WEBP and its default preferred
 * formats: a format in the URL always wins, then AVIF, then WebP if the client accepts them, then the format of the source.
 */
import type { PictureFormat, PictureSpec } from '../../../../shared/pictures/picture.ts';
import { EngineError } from '../../runtime/engine.ts';

/** Formats that results may keep from the source. The first that can hold the result replaces all others. */
const preferredFormats = ['jpg', 'png', 'gif'] as const satisfies PictureFormat[];

export const animatedFormats: ReadonlySet<PictureFormat> = new Set<PictureFormat>(['webp', 'gif']);
export const opaqueFormats: ReadonlySet<PictureFormat> = new Set<PictureFormat>(['jpg']);

const negotiable = ['avif', 'webp'] as const satisfies PictureFormat[];
type NegotiableFormat = (typeof negotiable)[number];

export interface SourcePicture {
  format: PictureFormat;
  isAnimated: boolean;
  hasAlpha: boolean;
}

export interface NegotiatedFormat {
  /** AVIF has a minimum of 16 pixels per side. A smaller result is a PNG if it has alpha, otherwise a JPEG. */
  format: PictureFormat;
  /** Whether the source is returned as it is. SVG still needs to be sanitized. */
  isUnchanged: boolean;
}

/** Returns the formats that a client accepts explicitly, in order of preference. A wildcard does not count. */
export function acceptedFormats(accept = ''): NegotiableFormat[] {
  const accepted = accept
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter)))
    .map(([type]) => type);
  return negotiable.filter((format) => accepted.includes(`image/${format}`));
}

/** Chooses the output format. Fails if the URL asks for SVG and the source is something else. */
export function negotiateFormat(spec: PictureSpec, source: SourcePicture, accept?: string): NegotiatedFormat {
  if (isUnchanged(spec, source.format)) return { format: source.format, isUnchanged: true };
  if (spec.format === 'svg')
    throw new EngineError(`Expected an SVG source for SVG output but received ${source.format}.`);
  return { format: spec.format ?? formatFor(spec, source, acceptedFormats(accept)), isUnchanged: false };
}

function isUnchanged({ format, skipProcessing, raw }: PictureSpec, source: PictureFormat): boolean {
  if (raw) return true;
  // Without a format in the URL, an SVG stays one even if the client accepts AVIF.
  const isSame = format === null || format === source;
  return isSame && (source === 'svg' || skipProcessing.includes(source));
}

function formatFor(
  { background, padding, extend, limits }: PictureSpec,
  source: SourcePicture,
  accepted: readonly NegotiableFormat[],
): PictureFormat {
  const isAnimated = source.isAnimated && limits.maxAnimationFrames > 1;
  const choice = accepted.find((format) => !isAnimated || animatedFormats.has(format));
  if (choice) return choice;
  const [fallback] = preferredFormats;
  const isKept = preferredFormats.some((format) => format === source.format);
  if (isKept) return source.format;
  const isPadded = Object.values(padding).some((side) => side > 0);
  // Like in imgproxy, extending to an aspect ratio does not count.
  const isTransparent = background === null && (source.hasAlpha || isPadded || extend !== null);
  return (
    preferredFormats.find(
      (format) => (!isAnimated || animatedFormats.has(format)) && (!isTransparent || !opaqueFormats.has(format)),
    ) ?? fallback
  );
}
