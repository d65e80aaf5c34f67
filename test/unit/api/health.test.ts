import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { responseSchemas } from '../../../functions/api/http/response-schemas.ts';
import type { EngineState } from '../../../shared/aws/stores/engine-state.ts';
import { encodeMissing, type MissingComponents } from '../../../shared/catalogue/missing.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const states = new Map<string, EngineState>();
vi.mock('../../../shared/aws/stores/engine-state.ts', () => ({ readEngineStates: async () => states }));

/** Asks the function as it is on an instance that lacks something. */
async function health(missing?: MissingComponents) {
  vi.stubEnv('LATHE_VERSION', '1.2.3');
  vi.stubEnv('LATHE_WEBSOCKET_URL', 'wss://sockets.example/live');
  if (missing) vi.stubEnv('LATHE_MISSING', encodeMissing(missing));
  const { handler } = await import('../../../functions/api/service/health.ts');
  const http = { method: 'GET', path: '/health' };
  const event = { headers: {}, requestContext: { http, requestId: 'r' } } as unknown as APIGatewayProxyEventV2;
  const response: APIGatewayProxyStructuredResultV2 = await handler(event, {} as Context);
  return responseSchemas.Health.parse(JSON.parse(response.body ?? ''));
}

test('every engine is usable where nothing is missing, as in AWS', async () => {
  const { engines } = await health();
  expect(engines.map(({ name }) => name)).toContain('image');
  expect(engines.filter(({ usable, reason, missing }) => !usable || reason || missing)).toEqual([]);
});

test('an engine that has reported its isolation lists the barriers, with the reason for each that is absent', async () => {
  const reported: EngineState = {
    barriers: { calls: { stands: true }, mounts: { stands: false, reason: 'clone: Operation not permitted' } },
    reportedAt: '2030-01-01T00:00:00.000Z',
  };
  states.set('image', reported);
  const { engines } = await health();
  states.clear();
  expect(engines.find(({ name }) => name === 'image')).toEqual({ name: 'image', usable: true, isolation: reported });
  expect(engines.find(({ name }) => name === 'media')).toEqual({ name: 'media', usable: true });
});

test('an engine that lacks some programs is usable and lists them with a command that installs each', async () => {
  const { engines } = await health({ manager: 'apt', engines: { image: { gs: '' } } });
  expect(engines.find(({ name }) => name === 'image')).toEqual({
    name: 'image',
    usable: true,
    missing: [{ name: 'gs', reason: 'Ghostscript (gs) is not installed.', hint: 'sudo apt-get install ghostscript' }],
  });
});

test('an engine that can do nothing any more is not usable, and says why in one sentence', async () => {
  const { engines } = await health({
    engines: { media: { ffmpeg: '', ffprobe: '' }, webpage: { chromium: 'libnss3.so is missing' } },
  });
  expect(engines.filter(({ usable }) => !usable)).toEqual([
    {
      name: 'media',
      usable: false,
      reason: 'Not installed: ffmpeg, ffprobe.',
      missing: [
        { name: 'ffmpeg', reason: 'ffmpeg is not installed.' },
        { name: 'ffprobe', reason: 'ffprobe is not installed.' },
      ],
    },
    {
      name: 'webpage',
      usable: false,
      reason: 'Chromium cannot be used: libnss3.so is missing.',
      missing: [{ name: 'chromium', reason: 'Chromium (chromium) cannot be used: libnss3.so is missing.' }],
    },
  ]);
});
