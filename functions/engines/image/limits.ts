/** Beyond this a small file would need gigabytes of memory once decoded. */
export const maxPixels = 100_000_000;
/** Maximum width or height that the encoders and all viewers support. */
export const maxSide = 65_500;
/** Total of all frames of an animation or pages of a document that libvips streams. */
export const maxTotalPixels = 600_000_000;
/** Total of all frames that must be in memory together. */
export const maxPixelsAtOnce = 150_000_000;
export const maxFrames = 2_000;
/** Larger XML is an attack, not a drawing. */
export const maxSvgBytes = 32 * 1024 * 1024;
/** Limit for decoders that hold the whole file in memory with 32-bit addresses. */
export const maxMagickBytes = 512 * 1024 * 1024;
export const maxPdfPages = 5_000;
