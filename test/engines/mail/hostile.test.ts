import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { stopOffice } from '../../../functions/engines/document/office/office.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { convertMail, makeFolder, readPdf, textOfMail } from './harness.ts';
import { mail, redPng } from './samples.ts';

// The engine runs in this process, without the barriers of its sandbox: what it does itself must hold.
const hits: string[] = [];
const secret = 'the-canary-sings';
let url: string;
let file: string;
const server = createServer((request, response) => {
  hits.push(request.url ?? '');
  response.setHeader('content-type', 'image/png');
  response.end(Buffer.from(redPng, 'base64'));
});

beforeAll(async () => {
  file = join(await makeFolder(), 'canary.txt');
  await writeFile(file, secret);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});

beforeEach(() => {
  hits.length = 0;
});

afterAll(async () => {
  server.close();
  await closeBrowser();
  await stopOffice();
});

const page = (body: string, ...headers: string[]) =>
  mail([
    'From: "Trusted Bank" <evil@example.com>',
    'Subject: Hello',
    ...headers,
    'Content-Type: text/html; charset=utf-8',
    '',
    body,
  ]);

/** A message that is signed with S/MIME again and again, each time with its content inside. */
function nestedSigned(times: number): Buffer {
  const element = (tag: number, ...parts: Buffer[]) => {
    const content = Buffer.concat(parts);
    const head = Buffer.from([tag, 0x84, 0, 0, 0, 0]);
    head.writeUInt32BE(content.length, 2);
    return Buffer.concat([head, content]);
  };
  const kind = (number: number) => Buffer.from([0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, number]);
  let message = Buffer.from('Content-Type: text/plain\r\n\r\nwords');
  for (let time = 0; time < times; time++) {
    const inner = element(0x30, kind(1), element(0xa0, element(0x04, message)));
    const signed = element(0x30, element(0x02, Buffer.from([1])), element(0x31), inner);
    const file = element(0x30, kind(2), element(0xa0, signed));
    message = Buffer.concat([Buffer.from('Content-Type: application/pkcs7-mime\r\n\r\n'), file]);
  }
  return Buffer.concat([Buffer.from('From: a@example.com\r\n'), message]);
}

describe('hostile mail', () => {
  it('reaches no file and no address, and runs nothing', async () => {
    const target = [url, `file://${file}`];
    const body = target
      .map(
        (address) =>
          `<base href="${address}/"><link rel=stylesheet href="${address}/a.css"><link rel=preload as=image href="${address}/b"><style>@import url(${address}/c.css); @font-face{font-family:x;src:url(${address}/d)} p{background:url(${address}/e);font-family:x} @\\69mport "${address}/f";</style><img src="${address}/g" srcset="${address}/h 2x"><picture><source srcset="${address}/i"></picture><table background="${address}/j"><tr><td background="${address}/k">x</table><iframe src="${address}/l"></iframe><object data="${address}/m"></object><embed src="${address}/n"><video poster="${address}/o" src="${address}/p"></video><svg><image href="${address}/q"/><use href="${address}/r#a"/></svg><input type=image src="${address}/s"><form action="${address}/t"><button>x</button></form><meta http-equiv=refresh content="0;url=${address}/u"><body background="${address}/v" onload="fetch('${address}/w')"><script>fetch('${address}/x')</script><img src=x onerror="fetch('${address}/y')"><a href="javascript:alert(1)" ping="${address}/z">a</a>`,
      )
      .join('');

    for (const to of ['pdf', 'html', 'txt', 'json']) {
      const { outputs } = await convertMail(page(body), to);
      const written = await readFile(outputs[0]?.path ?? '');
      expect(written.includes(secret)).toBe(false);
      if (to === 'html') {
        expect(written.toString()).not.toMatch(
          /<(?:script|iframe|object|embed|link|base|svg|video)\b|javascript:|onload=|onerror=|ping=/i,
        );
        expect(written.toString()).not.toContain(url);
        expect(written.toString()).not.toContain('file:');
      }
    }
    expect(hits).toEqual([]);
  }, 60_000);

  it('loads pictures on request only, and none from a private address', async () => {
    const message = page(
      `<img src="${url}/one.png" width=300 height=60 alt="Our logo"><img src="${url}/dot.gif" width=1 height=1>`,
    );

    const { outputs, warnings } = await convertMail(message, 'pdf');
    expect((await readPdf(outputs[0]?.path ?? '')).text).toContain('Our logo');
    expect(warnings).toEqual(['2 pictures of remote hosts were not loaded. To load them, set remote_content to load.']);
    expect((await convertMail(message, 'html', { remote_content: 'load' })).warnings).toEqual([
      '2 pictures of remote hosts could not be loaded.',
    ]);
    expect(hits).toEqual([]);
    vi.stubEnv('LATHE_ALLOW_HOSTS', new URL(url).host);
    onTestFinished(() => void vi.unstubAllEnvs());
    const loaded = await textOfMail(message, 'html', { remote_content: 'load' });
    expect(loaded).toContain('src="data:image/png;base64,');
    expect(loaded).not.toContain(url);
    expect(hits.toSorted()).toEqual(['/dot.gif', '/one.png']);
  }, 30_000);

  it('cannot hide, cover or imitate the header block', async () => {
    const styles = `*,div,span{color:white!important;opacity:0;transform:translateY(-999px)} :root,html,body{display:none!important} body{margin-top:-500px}`;
    const cover =
      '<div style="position:fixed;top:0;left:0;right:0;height:150px;background:#d00000">From: ceo@bank.example</div>';
    const over =
      '<div style="position:absolute;top:-150px;left:0;right:0;height:150px;background:#d00000"></div><div style="margin-top:-150px;height:150px;background:#d00000"></div>';
    const { outputs } = await convertMail(
      page(`</div></div></body></html><style>${styles}</style>${cover}${over}`),
      'pdf',
    );

    const path = outputs[0]?.path ?? '';
    expect((await readPdf(path)).text).toContain('From Trusted Bank <evil@example.com>');
    const { runProgram } = await import('../../../functions/engines/runtime/program.ts');
    await runProgram('pdftoppm', ['-r', '36', '-png', '-singlefile', path, `${path}-1`], { cwd: join(path, '..') });
    // The first 25 mm of the page: margin and header block.
    const { data, info } = await sharp(`${path}-1.png`)
      .extract({ left: 0, top: 0, width: 290, height: 36 })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const reds = Array.from({ length: info.width * info.height }, (_value, index) => index * info.channels).filter(
      (at) => (data[at] ?? 0) > 150 && (data[at + 1] ?? 255) < 60,
    );
    expect(reds).toHaveLength(0);
  }, 30_000);

  it('cannot add headers, paths or other reading directions', async () => {
    const text = await textOfMail(
      mail([
        'From: =?utf-8?Q?Ana=0D=0ABcc=3A_hidden=40example.com?= <ana@example.com>',
        'Subject: =?utf-8?Q?Invoice_=E2=80=AEfdp.exe=0ADate=3A_today?=',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: application/octet-stream; name="..\\..\\C:\\Windows\\evil\u202egpj.exe"',
        '',
        'x',
        '--b--',
      ]),
    );

    expect(text).not.toMatch(/^(?:Bcc|Date):/m);
    expect(text).not.toMatch(/[\u202e\\]/u);
    expect(text).toMatch(/Attachments: evilgpj\.exe \(1 byte\)/);
  });

  it.each([
    [
      'thousands of parts',
      `${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(10_000)}--b--`,
      /more than 2,000 parts/,
    ],
    [
      'parts in parts in parts',
      Array.from(
        { length: 100 },
        (_value, index) => `--b${index || ''}\r\nContent-Type: multipart/mixed; boundary=b${index + 1}\r\n\r\n`,
      ).join(''),
      /more than 50 levels deep/,
    ],
  ])('is refused if it has %s', async (_name, body, message) => {
    const content = mail(['From: a@example.com', 'Content-Type: multipart/mixed; boundary=b', '', body]);

    await expect(textOfMail(content)).rejects.toThrow(message);
  });

  it('is refused if its headers are huge', async () => {
    await expect(textOfMail(`From: a@example.com\r\nX-Long: ${'a\r\n '.repeat(700_000)}\r\n\r\nx`)).rejects.toThrow(
      /headers of the message are larger/,
    );
  });

  it('stops at messages in messages', async () => {
    let content = 'Subject: innermost\r\n\r\nx';
    for (let level = 0; level < 40; level++)
      content = `Subject: ${level}\r\nContent-Type: message/rfc822\r\n\r\n${content}`;

    const { outputs } = await convertMail(content, 'pdf');

    const { pages, text } = await readPdf(outputs[0]?.path ?? '');
    expect(pages).toBe(6);
    expect(text).not.toContain('innermost\nx');
  }, 30_000);

  it.each([
    ['references of pictures that are circles', page('<img src="cid:a"><img src="cid:b">', 'Content-ID: <a>')],
    ['HTML that is nested too deeply', page(`${'<div>'.repeat(50_000)}Deep words`)],
    [
      'an external body',
      mail([
        'Subject: x',
        'Content-Type: message/external-body; access-type=local-file; name="/etc/passwd"',
        '',
        'Content-Type: text/plain',
        '',
        '',
      ]),
    ],
    [
      'a character set that does not exist',
      mail(['Subject: x', 'Content-Type: text/plain; charset="../../etc/passwd"', '', 'words']),
    ],
    ['an empty multipart', mail(['Subject: x', 'Content-Type: multipart/alternative; boundary=b', '', '--b--'])],
    [
      'a data URI that is no picture',
      page(
        '<img src="data:text/html,<script>alert(1)</script>"><p style="background:url(data:image/png;base64,AAAA)">x',
      ),
    ],
    [
      'base64 that is none',
      mail(['Subject: x', 'Content-Type: image/png', 'Content-Transfer-Encoding: base64', '', '!!!!']),
    ],
    [
      'a winmail.dat that lies about its sizes',
      mail([
        'Subject: x',
        'Content-Type: application/ms-tnef',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('789f3e2201000190080004000000ffffffff', 'hex').toString('base64'),
      ]),
    ],
    ['signed messages in each other', nestedSigned(3_000)],
    [
      'a signature that is nested',
      mail([
        'Subject: x',
        'Content-Type: application/pkcs7-mime',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('3080'.repeat(5000), 'hex').toString('base64'),
      ]),
    ],
  ])(
    'is drawn if it has %s',
    async (_name, content) => {
      const { outputs } = await convertMail(content, 'pdf');

      expect((await readPdf(outputs[0]?.path ?? '')).pages).toBeGreaterThan(0);
    },
    30_000,
  );

  it.each([
    ['an empty file', ''],
    ['bytes', Buffer.from([1, 2, 3, 255])],
    ['text without headers', 'Dear all,\r\n\r\nbye'],
  ])('says that %s is no message', async (_name, content) => {
    await expect(textOfMail(content)).rejects.toThrow(/is empty|could not be read as a message/);
  });
});
