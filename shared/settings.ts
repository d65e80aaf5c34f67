import { maxConfigurableFileBytes } from './files/limits.ts';

/** Invalid configuration: lists every mistake with its name and the expected form. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

const setting = (
  variable: string,
  defaultValue: number,
  minimum: number,
  meaning: string,
  maximum: number = Number.MAX_SAFE_INTEGER,
) => ({ variable, defaultValue, minimum, maximum, meaning });

/** The settings of a deployment: environment variables locally, context values of the same meaning in AWS. */
export const numberSettings = {
  fileSeconds: setting('LATHE_FILE_SECONDS', 14_400, 1, 'how long files are kept'),
  recordSeconds: setting('LATHE_RECORD_SECONDS', 86_400, 1, 'how long records are kept'),
  uploadSeconds: setting('LATHE_UPLOAD_SECONDS', 3_600, 1, 'how long an upload form is valid'),
  sweepSeconds: setting('LATHE_SWEEP_SECONDS', 60, 1, 'how often the sweep runs'),
  maxFileBytes: setting(
    'LATHE_MAX_FILE_BYTES',
    5_000_000_000,
    1,
    'maximum size of an imported file, up to 1 TB',
    maxConfigurableFileBytes,
  ),
  ratePerMinute: setting(
    'LATHE_RATE_PER_MINUTE',
    3_000,
    0,
    'requests that an account may make in a minute; 0 for no limit',
  ),
  minutesPerMonth: setting(
    'LATHE_MINUTES_PER_MONTH',
    0,
    0,
    'conversion minutes that an account may use in a month; 0 for no limit',
  ),
  creationsPerMinute: setting(
    'LATHE_CREATIONS_PER_MINUTE',
    1_200,
    0,
    'jobs, and tasks without one, that an account may create in a minute; 0 for no limit',
  ),
  waitsPerMinute: setting(
    'LATHE_WAITS_PER_MINUTE',
    60,
    0,
    'waits of 25 seconds that are held for an account in a minute, or more that are shorter; 0 for no limit',
  ),
  instantAtOnce: setting(
    'LATHE_INSTANT_AT_ONCE',
    50,
    1,
    'instant conversions that an account may have in progress at once',
  ),
  splitAtOnce: setting(
    'LATHE_SPLIT_AT_ONCE',
    100,
    0,
    'parts of split videos and documents that are processed at once, of all accounts together; 0 to split none',
  ),
  splitSeconds: setting(
    'LATHE_SPLIT_SECONDS',
    30,
    1,
    'engine time that a part of a split video or document should take, in seconds; one that takes less than three parts is not split',
  ),
};

export type NumberSettings = { [name in keyof typeof numberSettings]: number };

/** Reads the settings of a deployment, or throws one error that names every mistake. */
export function readNumberSettings(environment: Record<string, string | undefined>): NumberSettings {
  const mistakes: string[] = [];
  const values: Record<string, number> = {};
  for (const [name, { variable, defaultValue, minimum, maximum, meaning }] of Object.entries(numberSettings)) {
    const text = environment[variable];
    const value = text === undefined || text === '' ? defaultValue : Number(text);
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
      const range = Number.isSafeInteger(value) && value > maximum ? `at most ${maximum}` : `at least ${minimum}`;
      mistakes.push(`${variable} (${meaning}): expected an integer of ${range} but received ${JSON.stringify(text)}`);
    }
    values[name] = value;
  }
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'));
  return values as NumberSettings;
}

/** Returns a variable that the stack always sets, or throws with its name. */
export function required(variable: string): string {
  const value = process.env[variable];
  if (!value) throw new SettingsError(`${variable} is not set; the stack sets it for every function that needs it.`);
  return value;
}
