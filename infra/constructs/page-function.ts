import { htmlFiles } from '../../web/html-files.ts';
import { idForm } from '../../web/pages.ts';

/**
 * Returns the code of the CloudFront function in front of the page's documents. It replaces a path by that of its
 * document. Paths that only resemble one, such as a job with an impossible id, get the API's response for unknown
 * paths.
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
  return {
    statusCode: 404,
    statusDescription: 'Not Found',
    headers: { 'content-type': { value: 'application/json' } },
    body: JSON.stringify({ errorCode: 'not_found', msg: 'There is no ' + request.uri + '.' }),
  };
}
`;
}

function patternOf(path: string): string {
  if (!/^[\w/-]+\*?$/.test(path))
    throw new Error(`Expected a path of words with at most an id at its end but received ${path}.`);
  return path.replaceAll('/', '\\/').replace('*', idForm);
}
