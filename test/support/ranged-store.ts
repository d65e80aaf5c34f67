import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of one file that responds to ranges as S3 does. */
export interface RangedStore extends AsyncDisposable {
  url: string;
  /** How many bytes it has sent. */
  sent: number;
}

/** Serves a file on a port of its own. */
export async function serveFile(path: string): Promise<RangedStore> {
  const { size, mtimeMs } = await stat(path);
  const etag = `"${size}-${mtimeMs}"`;
  const server = createServer((req, res) => {
    const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '') ?? [];
    const start = Number(first);
    const end = Math.min(size - 1, Number(last));
    if (req.headers['if-match'] && req.headers['if-match'] !== etag) res.writeHead(412).end();
    else if (last === '' || start > end) res.writeHead(416).end();
    else {
      res.writeHead(206, {
        etag,
        'content-length': end - start + 1,
        'content-range': `bytes ${start}-${end}/${size}`,
      });
      store.sent += end - start + 1;
      createReadStream(path, { start, end }).pipe(res);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store: RangedStore = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return store;
}
