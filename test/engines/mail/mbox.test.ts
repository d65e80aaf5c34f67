import { afterAll, describe, expect, it } from 'vitest';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { detectFormat } from '../../../shared/catalogue/detect.ts';
import { convertMail, known, makeFolder, readPdf, textOfMail } from './harness.ts';
import { mail, python, thunderbirdMail } from './samples.ts';

afterAll(closeBrowser);

/** Writes a mailbox with Python's library: two conversations, with a reply whose clock is wrong. */
async function mailbox(): Promise<Buffer> {
  const folder = await makeFolder();
  return python(
    `
import sys, mailbox
from email.message import EmailMessage
box = mailbox.mbox(sys.argv[1])
def add(id, subject, date, text, references=''):
  m = EmailMessage()
  m['From'] = 'a@example.com'
  m['Subject'] = subject
  m['Date'] = date
  m['Message-ID'] = '<%s>' % id
  if references: m['References'] = references
  m.set_content(text)
  box.add(m)
add('late@x', 'Second thread', 'Fri, 6 Mar 2026 10:00:00 +0000', 'Words of the second thread.')
add('reply@x', 'Re: First', 'Mon, 2 Mar 2026 10:00:00 +0000', 'Reply with a wrong clock.', '<first@x>')
add('first@x', 'First', 'Tue, 3 Mar 2026 10:00:00 +0000', 'From here on it is quoted.\\nFrom there too.\\n')
add('end@x', 'Re: First', 'Wed, 4 Mar 2026 10:00:00 +0000', 'Last of the first thread.', '<first@x> <reply@x>')
box.flush()
sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())
`,
    `${folder}/box`,
  );
}

const subjects = async (content: Buffer | string) => {
  const { messages } = JSON.parse(await textOfMail(content, 'json', {}, 'mbox'));
  return messages.map(({ subject }: { subject: string }) => subject);
};

describe('mailboxes', () => {
  it('are in the order of their conversations, each message after the one that it answers', async () => {
    const content = await mailbox();

    expect(await detectFormat(known, content, 'Inbox')).toBe('mbox');
    const text = await textOfMail(content, 'txt', {}, 'mbox');
    const words = ['From here on it is quoted.\nFrom there too.', 'wrong clock', 'Last of the first', 'second thread.'];
    const places = words.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it('become one PDF with bookmarks', async () => {
    const { outputs } = await convertMail(await mailbox(), 'pdf', {}, 'mbox');

    const { text, pages } = await readPdf(outputs[0]?.path ?? '');
    expect(pages).toBe(4);
    expect(text).toMatch(/From here on[\s\S]*wrong clock[\s\S]*Last of[\s\S]*second thread/);
  }, 30_000);

  it.each([
    ['thread', ['mail-1 First.txt', 'mail-2 Second thread.txt']],
    ['message', ['mail-1 First.txt', 'mail-2 Re_ First.txt', 'mail-3 Re_ First.txt', 'mail-4 Second thread.txt']],
  ])('become a file for each %s', async (unit, names) => {
    const { outputs } = await convertMail(await mailbox(), 'txt', { one_file_per: unit }, 'mbox');

    expect(outputs.map(({ name }) => name)).toEqual(names);
  });

  it('may hold lines that begin like separators', async () => {
    const content = mail([
      'From a@example.com Tue Mar  3 10:00:00 2026',
      'Subject: one',
      '',
      'From the start of the text',
      '',
      'From here we go at 10:00 today',
      '',
      '>From quoted',
      '>>From quoted twice',
      '',
      'From MAILER-DAEMON Tue Mar  3 10:00:00 2026',
      'Subject: two',
      '',
      'x',
    ]);

    expect(await subjects(content)).toEqual(['one', 'two']);
    const text = await textOfMail(content, 'txt', {}, 'mbox');
    expect(text).toContain('\nFrom quoted\n>From quoted twice\n');
  });

  it('with references that are circles come to an end', async () => {
    const message = (id: string, other: string) =>
      mail([
        `From x@example.com Tue Mar  3 10:00:00 2026`,
        `Subject: ${id}`,
        `Message-ID: <${id}>`,
        `References: <${other}> <${id}>`,
        '',
        'x',
        '',
      ]);

    expect((await subjects([message('a', 'b'), message('b', 'c'), message('c', 'a')].join('\n'))).toSorted()).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('of thousands of messages are read within seconds, and not drawn', async () => {
    const one = (index: number) =>
      `From x@example.com Tue Mar  3 10:00:00 2026\nFrom: a@example.com\nSubject: ${index}\nMessage-ID: <${index}@x>\nReferences: <${index - 1}@x>\n\nText\n\n`;
    const content = Array.from({ length: 5000 }, (_value, index) => one(index)).join('');

    expect(await subjects(content)).toHaveLength(5000);
    await expect(convertMail(content, 'pdf', {}, 'mbox')).rejects.toThrow(
      /5,000 messages; the maximum for pdf is 1,000/,
    );
    await expect(convertMail(content, 'txt', { one_file_per: 'message' }, 'mbox')).rejects.toThrow(
      /one_file_per to mailbox/,
    );
  }, 30_000);

  it('are told from single messages', async () => {
    expect(await detectFormat(known, Buffer.from(thunderbirdMail), 'letter.eml')).toBe('eml');
    expect(await detectFormat(known, Buffer.from(thunderbirdMail), 'Inbox')).toBe('mbox');
    expect(await detectFormat(known, Buffer.from('From: a\nTo: b\nSubject: c\n\nd'), 'mail')).toBe('eml');
    expect(await detectFormat(known, Buffer.from('From: a\nTo: b\nSubject: c\n\nd'), 'notes.txt')).toBe('txt');
    await expect(textOfMail('Subject: x\n\ny', 'txt', {}, 'mbox')).rejects.toThrow(/could not be read as a mailbox/);
  });
});
