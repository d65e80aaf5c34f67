import type { Logger } from '@aws-lambda-powertools/logger';
import { callerKnownMs } from '../../../shared/accounts/caller.ts';
import { sha256 } from '../../../shared/crypto.ts';
import { contentDisposition, safeName, stemOf } from '../../../shared/files/names.ts';
import { collectRarely } from '../../../shared/heap.ts';
import { pictureAccept, picturePathHeader } from '../../../shared/net/distribution.ts';
import { type PictureSpec, varyOf } from '../../../shared/pictures/picture.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { presignDownload } from '../files/signer.ts';
import { HttpError, notFound } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { admitRequest } from '../http/rate-limit.ts';
import { remember } from '../http/remember.ts';
import type { ApiRequest, ApiResponse } from '../http/route.ts';
import { isFromDistribution } from '../http/viewer.ts';
import { pictureRoutes } from '../routes/pictures.ts';
import { type Derivation, type Derivative, derive, readDerivative, storeDerivative, tooSlow } from './derive.ts';
import { type ImageKey, readImageKey } from './image-keys.ts';
import { type Failure, makeOnce } from './leases.ts';
import { parsePath } from './parse-path.ts';
import { signedPath } from './signed-path.ts';
import { findSource, nameOf } from './sources.ts';

collectRarely();

const route = pictureRoutes.picture;
type Request = ApiRequest<typeof route>;

/** API Gateway's limit of 30 seconds leaves the rest to the response. */
const maxSeconds = 25;

/** An SVG must not run scripts on the host of the page, whose session it could use. */
const headers = { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" };

const findKey = remember(readImageKey, { milliseconds: callerKnownMs, max: 100 });

async function respond(request: Request): Promise<ApiResponse> {
  const deadline = Date.now() + maxSeconds * 1000;
  const key = await findKey(request.params.keyId);
  if (!key) throw notFound(`There is no image key ${request.params.keyId}.`);
  const path = signedPath(rawPathOf(request), key);
  // Counted for the key and not for its account: everybody may repeat a URL, which must not use up the limit of the API.
  // Forged URLs are not counted, because anybody could make them.
  await admitRequest({ user: key.id }, route, false);
  const derivation = derivationOf(key, path, pictureAccept(request.headers.accept));
  const derivative = await made(path, derivation, deadline, request.logger);
  return responseOf(derivation, derivative);
}

export const handler = publicEndpoint(route, respond, headers);

/** Returns the path after the key. API Gateway decodes paths, so the distribution sends the original in a header. */
function rawPathOf({ params, path, headers }: Request): { path: string; isDecoded: boolean } {
  const sent = isFromDistribution(headers) ? headers[picturePathHeader] : undefined;
  return { path: (sent ?? path).slice(`/i/${params.keyId}`.length), isDecoded: sent === undefined };
}

function derivationOf(key: ImageKey, path: string, accept: string): Derivation {
  const { presets, presetsOnly, sources } = key;
  const { source: url, spec } = parsePath(path, { presets, presetsOnly });
  const source = findSource(sources, url);
  if (!source) throw notFound('The key does not allow this source. See the sources of the key.');
  const watermark = spec.watermark && key.watermark ? findSource(sources, key.watermark) : undefined;
  // Like in imgproxy, the option has no effect if there is no watermark.
  const shown = watermark ? spec : { ...spec, watermark: null };
  return { key, source, watermark, picture: { spec: shown, accept } };
}

/** Returns a derivative, which is made once even if many requests ask for it at the same time. */
async function made(path: string, derivation: Derivation, deadline: number, logger: Logger): Promise<Derivative> {
  const { key, picture } = derivation;
  const variant = varyOf(picture.spec).Vary ? picture.accept : '';
  const result = await makeOnce(sha256(`${key.id} ${variant} ${path}`), deadline, {
    make: () => derive(derivation, deadline, logger),
    store: storeDerivative,
    describe: failureOf,
  });
  if (!result) throw tooSlow();
  if ('own' in result) return result.own;
  if ('made' in result.shared) return readDerivative(result.shared.made);
  const { status, errorCode, msg, headers } = result.shared.failed;
  throw new HttpError(status, errorCode, msg, { headers });
}

function failureOf(error: unknown): Failure {
  if (error instanceof HttpError)
    return { status: error.status, errorCode: error.errorCode, msg: error.message, headers: error.headers };
  return {
    status: 500,
    errorCode: 'internal_error',
    msg: 'Something went wrong on our side. Retry later.',
    headers: {},
  };
}

async function responseOf(
  { key, source, picture: { spec } }: Derivation,
  derivative: Derivative,
): Promise<ApiResponse> {
  const { format } = derivative;
  const mediaType = catalogue.mediaType(format);
  const name = safeName(`${spec.filename ?? (stemOf(nameOf(source)) || 'image')}.${format}`);
  if ('key' in derivative)
    return {
      status: 303,
      headers: { ...varyOf(spec), Location: await presignDownload({ key: derivative.key, name, mediaType }, 'GET') },
    };
  return {
    headers: {
      'Content-Type': mediaType,
      'Content-Disposition': contentDisposition(name, spec.returnAttachment ? 'attachment' : 'inline'),
      'Cache-Control': `public, max-age=${maxAge(key, spec)}`,
      ...varyOf(spec),
    },
    file: derivative.bytes,
  };
}

function maxAge(key: ImageKey, { expires }: PictureSpec): number {
  const left = expires === null ? key.maxAge : expires - Math.ceil(Date.now() / 1000);
  return Math.max(0, Math.min(key.maxAge, left));
}
