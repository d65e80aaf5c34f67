const units = ['bytes', 'KB', 'MB', 'GB'];

/** Formats a size in a suitable unit. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Formats a time in the locale of the browser. */
export function timeText(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Formats a duration in a suitable unit. */
export function durationText(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return seconds < 5_400 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Progress below this share, or after a shorter time, says little about the rest. */
const minShare = 0.02;
const minSeconds = 2;

/** Formats the time left of work, given the share done and the seconds it took. Empty if it cannot be estimated yet. */
export function timeLeftText(share: number | undefined, seconds: number): string {
  if (share === undefined || share < minShare || share >= 1 || seconds < minSeconds) return '';
  const left = (seconds * (1 - share)) / share;
  if (left < 10) return 'a few seconds left';
  if (left < 55) return `about ${Math.ceil(left / 5) * 5} seconds left`;
  const minutes = Math.ceil(left / 60);
  if (minutes < 60) return `about ${minutes === 1 ? '1 minute' : `${minutes} minutes`} left`;
  return `about ${(left / 3600).toFixed(1)} hours left`;
}

/** Formats a configured duration in words: `4 hours`. */
export function wholeText(seconds: number): string {
  const [size, unit] = seconds >= 172_800 ? [86_400, 'day'] : seconds >= 3600 ? [3600, 'hour'] : [60, 'minute'];
  const count = Math.max(1, Math.round(seconds / size));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Formats the time between two points, up to now if there is no end. */
export function spanText(from: string | null, to: string | null): string {
  if (from === null) return '–';
  return durationText((Date.parse(to ?? new Date().toISOString()) - Date.parse(from)) / 1000);
}

/** Returns whether an operation imports or exports files, and does not change them. */
export function isTransfer(operation: string): boolean {
  return /^(?:import|export)\//.test(operation);
}

/** Returns the lowercase extension of a filename, or an empty string. */
export function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}
