/** Beyond this a small file would need gigabytes of memory once decoded. */
export const maxPixels = 100_000_000;
/** Of one side: the maximum that the encoders and every viewer support. */
export const maxSide = 65_500;
/** Over all frames of an animation or pages of a document, which libvips streams. */
export const maxTotalPixels = 600_000_000;
/** Over all frames that must be in memory together. */
export const maxPixelsAtOnce = 150_000_000;
export const maxFrames = 2_000;
/** Larger XML is a bomb rather than a drawing. */
export const maxSvgBytes = 32 * 1024 * 1024;
/** Encoders that hold the whole file in memory, within what a 32-bit address reaches. */
export const maxMagickBytes = 512 * 1024 * 1024;
export const maxPdfPages = 5_000;
