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

/** Formats the time between two points, up to now if there is no end. */
export function spanText(from: string | null, to: string | null): string {
  if (from === null) return '–';
  return durationText((Date.parse(to ?? new Date().toISOString()) - Date.parse(from)) / 1000);
}

/** Returns the lowercase extension of a filename, or an empty string. */
export function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}
