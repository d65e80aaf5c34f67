/** Invalid configuration: lists every mistake with its name and the expected form. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

interface NumberSetting {
  variable: string;
  defaultValue: number;
  minimum: number;
  meaning: string;
}

/** The settings of a deployment: environment variables locally, context values of the same meaning in AWS. */
export const numberSettings = {
  fileSeconds: { variable: 'LATHE_FILE_SECONDS', defaultValue: 14_400, minimum: 1, meaning: 'how long files are kept' },
  recordSeconds: {
    variable: 'LATHE_RECORD_SECONDS',
    defaultValue: 86_400,
    minimum: 1,
    meaning: 'how long records are kept',
  },
  uploadSeconds: {
    variable: 'LATHE_UPLOAD_SECONDS',
    defaultValue: 3_600,
    minimum: 1,
    meaning: 'how long an upload form is valid',
  },
  sweepSeconds: { variable: 'LATHE_SWEEP_SECONDS', defaultValue: 60, minimum: 1, meaning: 'how often the sweep runs' },
  maxFileBytes: {
    variable: 'LATHE_MAX_FILE_BYTES',
    defaultValue: 5_000_000_000,
    minimum: 1,
    meaning: 'maximum size of an imported file',
  },
  ratePerMinute: {
    variable: 'LATHE_RATE_PER_MINUTE',
    defaultValue: 3_000,
    minimum: 0,
    meaning: 'requests that an account may make in a minute; 0 for no limit',
  },
  minutesPerMonth: {
    variable: 'LATHE_MINUTES_PER_MONTH',
    defaultValue: 0,
    minimum: 0,
    meaning: 'conversion minutes that an account may use in a month; 0 for no limit',
  },
  creationsPerMinute: {
    variable: 'LATHE_CREATIONS_PER_MINUTE',
    defaultValue: 1_200,
    minimum: 0,
    meaning: 'jobs, and tasks without one, that an account may create in a minute; 0 for no limit',
  },
  waitsPerMinute: {
    variable: 'LATHE_WAITS_PER_MINUTE',
    defaultValue: 60,
    minimum: 0,
    meaning: 'waits of 25 seconds that are held for an account in a minute, or more that are shorter; 0 for no limit',
  },
} as const satisfies Record<string, NumberSetting>;

export type NumberSettings = { [name in keyof typeof numberSettings]: number };

/** Reads the settings of a deployment, or throws one error that names every mistake. */
export function readNumberSettings(environment: Record<string, string | undefined>): NumberSettings {
  const mistakes: string[] = [];
  const values: Record<string, number> = {};
  for (const [name, { variable, defaultValue, minimum, meaning }] of Object.entries(numberSettings)) {
    const text = environment[variable];
    const value = text === undefined || text === '' ? defaultValue : Number(text);
    if (!Number.isSafeInteger(value) || value < minimum) {
      mistakes.push(
        `${variable} (${meaning}): expected an integer of at least ${minimum} but received ${JSON.stringify(text)}`,
      );
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
