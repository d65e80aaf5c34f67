import { afterAll, describe, expect, it } from 'vitest';
import { stopOffice } from '../../../functions/engines/document/office/office.ts';
import { decompressRtf } from '../../../functions/engines/mail/rtf.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { detectFormat } from '../../../shared/catalogue/detect.ts';
import { convertMail, known, readPdf, textOfMail } from './harness.ts';
import { outlookFile, packedRtf } from './outlook.ts';
import { redPng } from './samples.ts';

afterAll(async () => {
  await closeBrowser();
  await stopOffice();
});

const text = (content: Buffer) => textOfMail(content, 'txt', {}, 'msg');
const page = (content: Buffer) => textOfMail(content, 'html', {}, 'msg');

const letter = {
  '0037001F': 'Größe der Tür',
  '0C1A001F': 'Jürgen Groß',
  '5D01001F': 'juergen@example.org',
  '00390040': new Date('2026-03-03T05:05:00Z'),
};

describe('messages of Outlook', () => {
  it('draws one with its recipients, picture and attachment', async () => {
    const picture = Buffer.concat([Buffer.from(redPng, 'base64'), Buffer.alloc(4096)]);
    const file = outlookFile({
      values: {
        ...letter,
        '10130102': Buffer.from('<p>Hello from Z\xfcrich <img src="cid:pic1"></p>', 'latin1'),
        '3FDE0003': 1252,
      },
      recipients: [
        { '3001001F': 'Ana', '39FE001F': 'ana@example.com', '0C150003': 1 },
        { '3001001F': 'Exchange Person', '3003001F': '/O=ORG/CN=PERSON', '0C150003': 2 },
      ],
      attachments: [
        { '3707001F': 'logo.png', '3712001F': 'pic1', '370E001F': 'image/png', '37010102': picture, '7FFE000B': true },
        { '3707001F': '../../Zahlen.csv', '370E001F': 'text/csv', '37010102': Buffer.alloc(5000, 'a;b\n') },
      ],
    });

    expect(await detectFormat(known, file, 'message.msg')).toBe('msg');
    const { outputs } = await convertMail(file, 'pdf', {}, 'msg');
    const pdf = await readPdf(outputs[0]?.path ?? '');
    for (const part of [
      'Größe der Tür',
      'From Jürgen Groß <juergen@example.org>',
      'To Ana <ana@example.com>',
      'Cc Exchange Person',
      'Date Tue, 3 Mar 2026, 05:05 (UTC)',
      'Zahlen.csv (5 KB)',
      'Hello from Zürich',
    ])
      expect(pdf.text).toContain(part);
    expect(pdf.text).not.toContain('logo.png');
  });

  it('uses the date and the zone of the headers', async () => {
    const headers = 'From: Real <real@example.org>\r\nDate: Tue, 3 Mar 2026 14:05:00 +0900\r\n\r\n';

    expect(await text(outlookFile({ values: { ...letter, '007D001F': headers, '1000001F': 'Body' } }))).toMatch(
      /From: Real <real@example.org>\nDate: Tue, 3 Mar 2026, 14:05 \(UTC\+09:00\)\n\nBody/,
    );
  });

  it('extracts the HTML that Outlook has put into rich text', async () => {
    const rtf = packedRtf(
      "{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl{\\f0\\fswiss Arial;}{\\f1\\fswiss\\fcharset204 Arial;}}{\\*\\htmltag64 <p class=\"x\">}\\htmlrtf {\\b\\htmlrtf0 Price: \\'80\\u8211?5 {\\f1 \\'cf\\'f0}{\\*\\htmltag84 &amp;}\\htmlrtf }\\htmlrtf0 {\\*\\htmltag72 </p>}}",
    );

    expect(await page(outlookFile({ values: { ...letter, '10090102': rtf } }))).toContain(
      '<p class="x">Price: €–5 Пр&amp;</p>',
    );
  });

  it('draws a message that is rich text only', async () => {
    const rtf = packedRtf('{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Plain {\\b rich} text\\par}');

    expect(await page(outlookFile({ values: { ...letter, '10090102': rtf } }))).toMatch(/Plain[\s\S]*<b>rich<\/b>/);
    expect(await text(outlookFile({ values: { ...letter, '10090102': rtf } }))).toContain('Plain rich text');
  }, 60_000);

  it('decompresses rich text', () => {
    // The example of MS-OXRTFCP, section 4.1.
    const example =
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af6026c6c0a8100617703a001e8001d0c0ff002a000d9';

    expect(decompressRtf(Buffer.from(example, 'hex'))?.toString('latin1')).toContain('{\\rtf1\\ansi\\ansicpg1252');
  });

  it('reads texts in the code page of the message', async () => {
    const values = {
      '0037001E': Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
      '1000001E': Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
    };

    expect(await text(outlookFile({ values: { ...values, '3FFD0003': 932 } }))).toMatch(/Subject: 日本[\s\S]*日本/);
    expect(await text(outlookFile({ values: { ...values, '3FF10003': 1041 } }))).toMatch(/Subject: 日本/);
  });

  it('names a message in a message, and stops at the sixth', async () => {
    let file: Parameters<typeof outlookFile>[0] = { values: { '0037001F': 'innermost' } };
    for (let level = 7; level >= 0; level--) file = { values: { '0037001F': `level ${level}` }, attachments: [file] };

    const { messages } = JSON.parse(await textOfMail(outlookFile(file), 'json', {}, 'msg'));

    expect(messages[0]).toMatchObject({ subject: 'level 0', attachments: [{ name: 'level 1.msg' }] });
  });

  it.each([
    ['half of one', (file: Buffer) => file.subarray(0, 700)],
    ['another compound file', () => Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['a text', () => Buffer.from('From: a@example.com\r\n\r\nText')],
  ])('refuses %s', async (_name, change) => {
    const file = outlookFile({ values: { ...letter, '1000001F': 'Body' } });

    await expect(text(Buffer.from(change(file)))).rejects.toThrow(/could not be read as a message of Outlook/);
  });

  it('ends on a file whose chains are circles', async () => {
    const file = outlookFile({ values: { ...letter, '1000001F': 'Body' } });
    // Every sector follows itself.
    for (let at = 512; at < 1024; at += 4) file.writeUInt32LE((at - 512) / 4, at);

    await text(file).catch((error: unknown) => expect(error).toHaveProperty('name', 'EngineError'));
  });
});
