import { afterAll, describe, expect, it } from 'vitest';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { convertMail, readPdf, textOfMail } from './harness.ts';
import { mail, outlookMail, pythonMail, thunderbirdMail } from './samples.ts';

afterAll(closeBrowser);

const html = (content: string | Uint8Array) => textOfMail(content, 'html');

/** A message with one text. */
function message(type: string, body: string | Buffer, ...headers: string[]): Buffer {
  const head = mail(['From: a@example.com', 'Subject: s', ...headers, `Content-Type: ${type}`, '', '']);
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

describe('messages of several programs', () => {
  it('draws one of Python with its header block, picture and attachments', async () => {
    const { outputs, warnings } = await convertMail(await pythonMail(), 'pdf', { attachments: 'list' });

    const { text, pages } = await readPdf(outputs[0]?.path ?? '');
    expect(pages).toBe(1);
    expect(warnings).toEqual([expect.stringMatching(/^The font Georgia is not installed; .+ was used\.$/)]);
    expect(outputs[0]?.name).toBe('mail.pdf');
    for (const part of [
      'Größe und 価格 – minutes of the meeting',
      'Jürgen Groß <juergen@example.org>',
      '"Doe, John" <john@example.com>',
      '渡辺 <watanabe@example.jp>',
      'Tue, 3 Mar 2026, 14:05 (UTC+09:00)',
      'Zahlen für März.csv (8 bytes)',
      'Grüße aus Zürich, 日本語',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('old programs');
    const page = await html(await pythonMail());
    expect(page).toContain('src="data:image/png;base64,iVBOR');
    expect(page).toContain('href="https://example.org/agenda"');
    expect(page).not.toContain('picture.png');
  });

  it('reads one of Thunderbird with its flowed text and quotations', async () => {
    const text = await textOfMail(thunderbirdMail);

    expect(text).toContain('Subject: Re: Café at noon');
    expect(text).toContain('Date: Tue, 3 Mar 2026, 15:00 (UTC-05:00)');
    expect(text).toContain('I will bring the papers that you asked for last week.');
    expect(text).toContain('> Shall we meet at noon in the café next to the station?\n>> Or later?\n-- \nBob');
  });

  it('draws one of Outlook with its invitation on one page', async () => {
    const { outputs } = await convertMail(outlookMail, 'pdf', { attachments: 'list' });

    const { text, pages } = await readPdf(outputs[0]?.path ?? '');
    expect(pages).toBe(1);
    for (const part of [
      'François’ budget €',
      'The budget is € 5000',
      'Invitation: Budget review',
      'When: 2026-03-10 10:00 (Europe/Berlin)',
      'Where: Room 4, second floor',
      'résumé.bin (5 bytes)',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('only for Word');
  });

  it('describes a message as JSON', async () => {
    const { messages } = JSON.parse(await textOfMail(await pythonMail(), 'json'));

    expect(messages[0]).toMatchObject({
      subject: 'Größe und 価格 – minutes of the meeting',
      date: '2026-03-03T14:05:00+09:00',
      message_id: 'one@example.org',
      text: 'Plain text for old programs.',
      attachments: [
        { name: 'picture.png', inline: true },
        { name: 'Zahlen für März.csv', media_type: 'text/csv', size: 8 },
      ],
    });
  });
});

describe('character sets', () => {
  it.each([
    ['iso-2022-jp', Buffer.from('\x1b$BF|K\\\x1b(B', 'latin1'), '日本'],
    ['windows-1251', Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]), 'Привет'],
    ['windows-1250', Buffer.from([0x9e, 0x6c, 0x75, 0x9d]), 'žluť'],
    ['GB18030', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), '你好'],
    ['cp932', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['us-ascii', Buffer.from('Größe ist hier wichtig'), 'Größe ist hier wichtig'],
    ['iso-8859-1', Buffer.from('Zürich – Genève'), 'Zürich – Genève'],
    [
      'utf-8',
      Buffer.from('Die Größe der Tür für Zürich ist schön', 'latin1'),
      'Die Größe der Tür für Zürich ist schön',
    ],
    ['x-unknown', Buffer.from('caf\xe9 au lait', 'latin1'), 'café au lait'],
  ])('reads text declared as %s', async (charset, bytes, expected) => {
    expect(await textOfMail(message(`text/plain; charset=${charset}`, bytes))).toContain(expected);
  });

  it('reads a page in the character set that it declares itself', async () => {
    const page = Buffer.from('<meta charset="windows-1251"><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>', 'latin1');

    expect(await html(message('text/html', page))).toContain('Привет');
  });

  it('reads headers with bytes that are not encoded', async () => {
    const raw = Buffer.from('From: J\xfcrgen <j@example.com>\r\nSubject: Gr\xf6\xdfe\r\n\r\nx', 'latin1');

    expect(await textOfMail(raw)).toMatch(/Subject: Größe\nFrom: Jürgen <j@example.com>/);
  });
});
