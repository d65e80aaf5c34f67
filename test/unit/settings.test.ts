import { afterEach, describe, expect, it, vi } from 'vitest';
import { numberSettings, readNumberSettings, required, SettingsError } from '../../shared/settings.ts';

afterEach(() => vi.unstubAllEnvs());

describe('the settings of a deployment', () => {
  it('have the defaults of the spec', () => {
    expect(readNumberSettings({})).toMatchObject({
      fileSeconds: 4 * 3_600,
      recordSeconds: 24 * 3_600,
      uploadSeconds: 3_600,
      sweepSeconds: 60,
    });
  });

  it('are taken from the environment, where an empty variable is none', () => {
    const settings = readNumberSettings({ LATHE_FILE_SECONDS: '60', LATHE_RECORD_SECONDS: '' });

    expect(settings).toMatchObject({ fileSeconds: 60, recordSeconds: 86_400 });
  });

  it.each(Object.values(numberSettings))('$variable may be its minimum and no less', ({ variable, minimum }) => {
    expect(() => readNumberSettings({ [variable]: String(minimum) })).not.toThrow();
    expect(() => readNumberSettings({ [variable]: String(minimum - 1) })).toThrow(SettingsError);
  });

  it.each(['1.5', 'many', 'NaN', 'Infinity', '9007199254740993', '10s', '-1'])(
    'refuse %j and say what is expected',
    (text) => {
      expect(() => readNumberSettings({ LATHE_UPLOAD_SECONDS: text })).toThrow(
        `LATHE_UPLOAD_SECONDS (how long an upload form is valid): expected an integer of at least 1 but received "${text}"`,
      );
    },
  );

  it('report all mistakes at once', () => {
    const read = () => readNumberSettings({ LATHE_FILE_SECONDS: 'x', LATHE_SWEEP_SECONDS: '0' });

    expect(read).toThrow(/LATHE_FILE_SECONDS.*\n.*LATHE_SWEEP_SECONDS/);
  });
});

describe('a variable that the stack always sets', () => {
  it('is returned', () => {
    vi.stubEnv('LATHE_TABLE', 'records');

    expect(required('LATHE_TABLE')).toBe('records');
  });

  it.each([undefined, ''])('is named when it is %j', (value) => {
    vi.stubEnv('LATHE_TABLE', value);

    expect(() => required('LATHE_TABLE')).toThrow(new SettingsError(expectedMessage));
  });

  const expectedMessage = 'LATHE_TABLE is not set; the stack sets it for every function that needs it.';
});
