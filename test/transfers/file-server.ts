import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface FileServer extends AsyncDisposable {
  url: string;
  port: number;
  /** Request lines and headers in the order in which they came. */
  requests: { target: string; headers: IncomingMessage['headers'] }[];
}

/** Starts an HTTP server on a loopback port that responds as a test says. */
export async function startFileServer(
  respond: (request: IncomingMessage, response: ServerResponse, number: number) => void,
): Promise<FileServer> {
  const requests: FileServer['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({ target: request.url ?? '', headers: request.headers });
    response.on('error', () => undefined);
    respond(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves content as file servers do: with a tag, and in parts where a client asks for one. */
export function serveRange(content: Buffer, tag: string) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const partial = request.headers.range !== undefined && request.headers['if-range'] === tag;
    const body = partial ? content.subarray(start) : content;
    response.writeHead(partial ? 206 : 200, {
      etag: tag,
      'accept-ranges': 'bytes',
      'content-length': body.length,
      ...(partial ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
    });
    return { body };
  };
}
