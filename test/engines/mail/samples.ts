import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';

const run = promisify(execFile);

/** Runs a script of Python, whose email library is another producer of messages. */
export async function python(script: string, ...args: string[]): Promise<Buffer> {
  const { stdout } = await run('python3', ['-c', script, ...args], { encoding: 'buffer', maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}

/** Writes a message with lines that end as in mail. */
export function mail(lines: string[]): string {
  return lines.join('\r\n');
}

/** A red square of 40 pixels. */
const red = { create: { width: 40, height: 40, channels: 3 as const, background: '#d00000' } };
export const redPng = (await sharp(red).png().toBuffer()).toString('base64');

/** A newsletter as Python's email library writes it: related pictures, an attachment, and words in several scripts. */
export function pythonMail(): Promise<Buffer> {
  return python(`
import sys, base64
from email.message import EmailMessage
from email.utils import format_datetime
from datetime import datetime, timezone, timedelta
m = EmailMessage()
m['From'] = 'Jürgen Groß <juergen@example.org>'
m['To'] = 'Ana <ana@example.com>, "Doe, John" <john@example.com>'
m['Cc'] = '渡辺 <watanabe@example.jp>'
m['Subject'] = 'Größe und 価格 – minutes of the meeting'
m['Date'] = format_datetime(datetime(2026, 3, 3, 14, 5, tzinfo=timezone(timedelta(hours=9))))
m['Message-ID'] = '<one@example.org>'
m.set_content('Plain text for old programs.\\n')
m.add_alternative('<html><body style="font-family: Georgia"><h1>Minutes</h1><p>Grüße aus Zürich, 日本語</p>'
  '<img src="cid:logo@example.org" width="40"><p><a href="https://example.org/agenda">The agenda</a></p></body></html>', subtype='html')
m.get_payload()[1].add_related(base64.b64decode('${redPng}'), 'image', 'png', cid='<logo@example.org>')
m.add_attachment('a;b\\n1;2\\n', subtype='csv', filename='Zahlen für März.csv')
sys.stdout.buffer.write(bytes(m))
`);
}

/** A reply as Thunderbird writes it: flowed text with quotations. */
export const thunderbirdMail = mail([
  'From - Tue Mar  3 15:00:00 2026',
  'X-Mozilla-Status: 0001',
  'Message-ID: <4f6a@example.net>',
  'Date: Tue, 3 Mar 2026 15:00:00 -0500',
  'MIME-Version: 1.0',
  'User-Agent: Mozilla Thunderbird',
  'Subject: =?UTF-8?Q?Re=3A_Caf=C3=A9_at_noon?=',
  'To: ana@example.com',
  'References: <one@example.org>',
  'In-Reply-To: <one@example.org>',
  'From: Bob Stone <bob@example.net>',
  'Content-Type: text/plain; charset=UTF-8; format=flowed',
  'Content-Transfer-Encoding: 8bit',
  '',
  'Yes, the café is fine for me, and I will bring the papers that you asked ',
  'for last week.',
  '',
  '> Shall we meet at noon in the café next to ',
  '> the station?',
  '>> Or later?',
  '-- ',
  'Bob',
]);

/** A message as Outlook writes it: HTML of Word in an old character set, with an invitation. */
export const outlookMail = Buffer.from(
  mail([
    'From: "Stone, Bob" <bob@example.net>',
    'To: "Ana" <ana@example.com>',
    'Subject: =?windows-1252?Q?Fran=E7ois=92_budget_=80?=',
    'Thread-Topic: Budget',
    'Date: Wed, 4 Mar 2026 09:30:00 +0000',
    'Content-Language: en-US',
    'X-MS-Has-Attach: yes',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="_004_AM0PR0_"',
    '',
    '--_004_AM0PR0_',
    'Content-Type: multipart/alternative; boundary="_000_AM0PR0_"',
    '',
    '--_000_AM0PR0_',
    'Content-Type: text/plain; charset="windows-1252"',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'The budget is =80 5000.',
    '',
    '--_000_AM0PR0_',
    'Content-Type: text/html; charset="windows-1252"',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<html xmlns:o=3D"urn:schemas-microsoft-com:office:office"><head><style><!--',
    '@page WordSection1 {size:8.5in 11in; margin:1in;} div.WordSection1 {page:WordSection1;}',
    'body {font-family:Calibri} p.MsoNormal {margin:0cm; color:#1F497D}',
    '--></style><!--[if mso]><p>only for Word</p><![endif]--></head><body lang=3D"EN-US">',
    '<div class=3D"WordSection1"><p class=3D"MsoNormal">The budget is =80=A05000<o:p></o:p></p></div></body></html>',
    '--_000_AM0PR0_',
    'Content-Type: text/calendar; charset="utf-8"; method=REQUEST',
    '',
    'BEGIN:VCALENDAR',
    'METHOD:REQUEST',
    'BEGIN:VEVENT',
    'SUMMARY:Budget review',
    'DTSTART;TZID=Europe/Berlin:20260310T100000',
    'DTEND;TZID=Europe/Berlin:20260310T110000',
    'LOCATION:Room 4\\, second floor',
    'ORGANIZER;CN="Bob Stone":mailto:bob@example.net',
    'BEGIN:VALARM',
    'DESCRIPTION:Reminder',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
    '--_000_AM0PR0_--',
    '--_004_AM0PR0_',
    "Content-Type: application/octet-stream; name*=utf-8''r%C3%A9sum%C3%A9.bin",
    "Content-Disposition: attachment; filename*0*=utf-8''r%C3%A9su; filename*1*=m%C3%A9.bin",
    'Content-Transfer-Encoding: base64',
    '',
    'AAECAwQ=',
    '--_004_AM0PR0_--',
    '',
  ]),
  'latin1',
);
