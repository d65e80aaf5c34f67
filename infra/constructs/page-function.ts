import { adviceOnLargeFiles, maxBinaryBodyBytes, maxInstantBytes } from '../../shared/files/limits.ts';
import { picturePathHeader } from '../../shared/net/distribution.ts';
import { notFoundPage, plainPageHeaders } from '../../shared/net/plain-page.ts';
import { htmlFiles } from '../../web/html-files.ts';
import { idForm } from '../../web/pages.ts';

/**
 * Returns the code of the CloudFront function in front of the page's documents. It replaces a path by that of its
 * document. Paths that only resemble one, such as a job with an impossible id, get the same responses as other unknown
 * paths: a page in a browser, the API's 404 otherwise.
 */
export function pageFunctionCode(): string {
  const pages = htmlFiles.map(({ name, paths }) => `  [/^(?:${paths.map(patternOf).join('|')})$/, '/${name}'],`);
  // CloudFront's JavaScript is ECMAScript 5.1 with some later additions.
  return `var pages = [
${pages.join('\n')}
];

function handler(event) {
  var request = event.request;
  for (var i = 0; i < pages.length; i++) {
    if (pages[i][0].test(request.uri)) {
      request.uri = pages[i][1];
      return request;
    }
  }
  if (request.headers.accept && request.headers.accept.value.indexOf('text/html') >= 0)
    return { statusCode: 404, statusDescription: 'Not Found', headers: ${JSON.stringify(edgeHeaders)}, body: ${JSON.stringify(notFoundPage)} };
  return {
    statusCode: 404,
    statusDescription: 'Not Found',
    headers: { 'content-type': { value: 'application/json' } },
    body: JSON.stringify({ errorCode: 'not_found', msg: 'There is no ' + request.uri + '.' }),
  };
}
`;
}

/**
 * Returns the code of the CloudFront function in front of images by URL. API Gateway decodes paths, and a signature is that
 * of the original, so it is sent in a header. Paths that decoding does not change have none: API Gateway takes 10,240 bytes
 * of request line and headers. A client's own header would be cached under the path, so it is removed. The Accept header is
 * reduced to three values, which are all that the cache tells apart.
 */
export function pictureFunctionCode(): string {
  return `function handler(event) {
  var request = event.request;
  var headers = request.headers;
  delete headers['${picturePathHeader}'];
  if (request.uri.indexOf('%') >= 0) headers['${picturePathHeader}'] = { value: request.uri };
  var accept = headers.accept ? headers.accept.value : '';
  if (accept.indexOf('image/avif') >= 0) accept = 'image/avif,image/webp';
  else accept = accept.indexOf('image/webp') >= 0 ? 'image/webp' : '*/*';
  headers.accept = { value: accept };
  return request;
}
`;
}

/**
 * Returns the code of the CloudFront function in front of instant requests. API Gateway refuses a body that does not fit into
 * an event of Lambda with a message that does not say what to do. JSON is not encoded in base64, so it may be longer.
 */
export function instantFunctionCode(): string {
  return `function handler(event) {
  var request = event.request;
  var headers = request.headers;
  var length = headers['content-length'] ? Number(headers['content-length'].value) : 0;
  var type = headers['content-type'] ? headers['content-type'].value : '';
  if (!(length > ${maxBinaryBodyBytes}) || type.indexOf('application/json') === 0) return request;
  return {
    statusCode: 413,
    statusDescription: 'Content Too Large',
    headers: { 'content-type': { value: 'application/json' }, 'access-control-allow-origin': { value: '*' } },
    body: JSON.stringify({
      errorCode: 'payload_too_large',
      msg: 'The request has ' + length + ' bytes; the files of an instant request have at most ${maxInstantBytes}. ${adviceOnLargeFiles}',
    }),
  };
}
`;
}

/** CloudFront takes the headers of a response as objects. */
const edgeHeaders = Object.fromEntries(Object.entries(plainPageHeaders).map(([name, value]) => [name, { value }]));

function patternOf(path: string): string {
  if (!/^[\w/-]+\*?$/.test(path))
    throw new Error(`Expected a path of words with at most an id at its end but received ${path}.`);
  return path.replaceAll('/', '\\/').replace('*', idForm);
}
