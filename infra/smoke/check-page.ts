import type { Outcome } from './run-case.ts';
import { type Service, SmokeError } from './service.ts';

/** Headers that limit what the page may do in a browser. */
const expected: [header: string, pattern: RegExp][] = [
  ['content-security-policy', /default-src 'none'/],
  ['x-content-type-options', /^nosniff$/],
  ['cache-control', /^no-cache$/],
];

/** Loads the page as a browser does: its document with its headers, and the scripts and styles that it names. */
export async function checkPage(service: Service): Promise<Outcome> {
  try {
    const { status, headers, text } = await service.page('/');
    // Without a page, the API responds with an error.
    if (status === 404 && headers.get('content-type')?.startsWith('application/json'))
      return { result: 'skipped', reason: 'The service has no page.' };
    if (status !== 200) throw new SmokeError(`The page responded with status ${status}: ${text.slice(0, 300)}`);
    const wrong = expected.find(([header, pattern]) => !pattern.test(headers.get(header) ?? ''));
    if (wrong) throw new SmokeError(`The page has ${wrong[0]}: ${headers.get(wrong[0])}, not ${wrong[1]}.`);
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    if (files.length === 0) throw new SmokeError('The page names no script.');
    let bytes = text.length;
    for (const path of files) {
      const file = await service.page(path);
      if (file.status !== 200 || !file.headers.get('cache-control')?.includes('immutable'))
        throw new SmokeError(
          `${path} responded with status ${file.status} and cache-control ${file.headers.get('cache-control')}.`,
        );
      bytes += file.text.length;
    }
    return { result: 'ok', bytes };
  } catch (error) {
    if (!(error instanceof SmokeError)) throw error;
    return { result: 'failed', reason: error.message };
  }
}
