import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/bundling.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

const messages = [
  `From: Ann <ann@example.com>
To: ben@example.com
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= / Q3
Date: Mon, 05 Jan 2026 10:00:00 +0100
Message-ID: <1@example.com>
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

First message with a stroke: Ünïcode.
`,
  `From: ben@example.com
To: ann@example.com
Subject: With an attachment
Date: Tue, 06 Jan 2026 23:30:00 -0500
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=part

--part
Content-Type: text/html; charset=utf-8

<p>Second message</p>
--part
Content-Type: text/csv; name=figures.csv
Content-Disposition: attachment; filename=figures.csv

a,b
1,2
--part--
`,
  `From: someone
Date: yesterday
Content-Type: text/plain

Third message, without a subject and with a date that is none.
`,
];

export const check: Check = async (tools) => {
  await using example = new Example('mail-archive-to-pdfa');
  const bin = example.installPython([join(projectRoot, 'packages/python'), 'mypy']);
  const service = await tools.service();
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey };
  const python = join(bin, 'python');
  const mbox = messages.map((message) => `From ann@example.com Mon Jan  5 10:00:00 2026\n${message}\n`).join('');
  await writeFile(example.file('mail.mbox'), mbox);
  await mkdir(example.file('eml', 'below'), { recursive: true });
  await writeFile(example.file('eml', 'below', 'one.eml'), messages[0] ?? '');
  await example.succeed(join(bin, 'mypy'), ['--strict', 'archive.py']);

  const output = await example.succeed(python, ['archive.py', example.file('mail.mbox'), example.file('archive')], {
    env,
  });

  assert.match(output, /^3 of 3 messages are in/);
  const files = (await readdir(example.file('archive'))).filter((name) => name.endsWith('.pdf')).sort();
  assert.deepEqual(
    files.map((name) => name.replace(/-[0-9a-f]{8}\.pdf$/, '')),
    ['2026-01-05-Grüße-Q3', '2026-01-07-With-an-attachment', 'undated-no-subject'],
  );
  const texts = ['Ünïcode', 'Second message', 'Third message'];
  for (const [index, name] of files.entries()) {
    const path = example.file('archive', name);
    tools.run('qpdf', ['--check', path]);
    const metadata = tools.run('pdfinfo', ['-meta', path]);
    assert.match(metadata, /pdfaid:part>3</);
    assert.match(metadata, /pdfaid:conformance>B</);
    assert.ok(tools.run('pdftotext', [path, '-']).includes(texts[index] ?? ''), name);
  }
  const attached = example.file('archive', files[1] ?? '');
  assert.match(tools.run('pdfdetach', ['-list', attached]), /figures\.csv/);
  tools.run('pdfdetach', ['-savefile', 'figures.csv', '-o', example.file('figures.csv'), attached]);
  assert.equal((await readFile(example.file('figures.csv'), 'utf8')).replaceAll('\r\n', '\n').trim(), 'a,b\n1,2');
  const index = await readFile(example.file('archive', 'index.csv'), 'utf8');
  assert.equal(index.trim().split('\r\n').length, 4);
  const { body } = await service.client.call<{ docs: unknown[] }>('GET', '/v1/process/jobs?tag=mail-archive');
  assert.deepEqual(body.docs, [], 'Jobs with private mail are left in the service.');

  const folder = await example.succeed(python, ['archive.py', example.file('eml'), example.file('archive')], { env });
  assert.match(folder, /^1 of 1 messages/);
  assert.equal((await readdir(example.file('archive'))).length, 4, 'The same message was archived twice.');
  return '3 messages as PDF/A-3b with text and attachment, no job left behind; mypy --strict passes';
};
