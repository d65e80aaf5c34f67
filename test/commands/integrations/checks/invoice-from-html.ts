import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { invoiceXml } from '../../../engines/pdf/invoice-samples.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

export const check: Check = async (tools) => {
  await using example = new Example('invoice-from-html');
  example.installNpm();
  const service = await tools.service();
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey };
  const plain = example.file('invoice.pdf');
  const withXml = example.file('factur-x.pdf');
  await writeFile(example.file('invoice.xml'), invoiceXml('EN 16931'));
  await writeFile(
    example.file('wrong.xml'),
    '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>',
  );

  await example.succeed(process.execPath, ['invoice.ts', 'invoice.json', plain], { env });
  await example.succeed(process.execPath, ['invoice.ts', 'invoice.json', withXml, example.file('invoice.xml')], {
    env,
  });
  const refused = await example.run(
    process.execPath,
    ['invoice.ts', 'invoice.json', example.file('none.pdf'), example.file('wrong.xml')],
    { env },
  );

  for (const path of [plain, withXml]) {
    tools.run('qpdf', ['--check', path]);
    assert.match(tools.run('pdfinfo', [path]), /^Pages: +1\n(.*\n)*Page size: .*A4/m);
    const text = tools.run('pdftotext', ['-layout', path, '-']);
    assert.match(text, /Müller & Söhne <Import>/);
    // 900 with 19 % and 59.70 with 7 %.
    for (const amount of ['€959.70', '€171.00', '€4.18', '€1,134.88'])
      assert.ok(text.includes(amount), `${amount} is not in:\n${text}`);
  }
  assert.match(tools.run('pdfdetach', ['-list', withXml]), /^1 embedded files\n1: factur-x\.xml/);
  tools.run('pdfdetach', ['-save', '1', '-o', example.file('out.xml'), withXml]);
  assert.equal(await readFile(example.file('out.xml'), 'utf8'), invoiceXml('EN 16931'));
  const metadata = tools.run('pdfinfo', ['-meta', withXml]);
  assert.match(metadata, /pdfaid:part>3</);
  assert.match(metadata, /ConformanceLevel>EN 16931</);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^processing_failed: .*UBL/m);
  return 'PDF and Factur-X of 1 page with totals and XML as given; an invoice in UBL refused';
};
