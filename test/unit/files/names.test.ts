import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentDisposition, extensionOf, safeName, uniqueNames, withExtension } from '../../../shared/files/names.ts';

describe('a safe name', () => {
  it.each([
    ['photo.png', 'photo.png'],
    ['Ünïcödé Ω.pdf', 'Ünïcödé Ω.pdf'],
    ['日本語のファイル.docx', '日本語のファイル.docx'],
    ['ملف.pdf', 'ملف.pdf'],
    ['👨‍👩‍👧.png', '👨‍👩‍👧.png'],
    ['e\u0301.png', 'é.png'],
    ["it's 100% (final).jpg", "it's 100% (final).jpg"],
  ])('keeps what a user would recognise: %j', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\cat.png', 'cat.png'],
    ['a\r\nSet-Cookie: x.png', 'aSet-Cookie_ x.png'],
    ['a\0b\u001b[31m.png', 'ab[31m.png'],
    ['a\u2028b\u2029.png', 'ab.png'],
    ['"quoted".png', '_quoted_.png'],
    ['a<b>|c?*.png', 'a_b__c__.png'],
    ['invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['invoice\u061c\u200f\u2067.pdf', 'invoice.pdf'],
    ['a\ud800b.png', 'ab.png'],
    ['.htaccess', 'htaccess'],
    ['. .hidden', 'hidden'],
    [' name.png. . ', 'name.png'],
    ['e\u200e\u0301.png', 'é.png'],
  ])('loses what is dangerous: %j becomes %j', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });

  it.each(['', '.', '..', '...', ' ', '/', 'a/', '\u202e', '\r\n', '. .'])('is the fallback for %j', (name) => {
    expect(safeName(name)).toBe('file');
    expect(safeName(name, 'export.zip')).toBe('export.zip');
  });

  it.each(['con', 'NUL', 'aux.png', 'Com1.txt', 'lpt9', 'COM¹.txt', 'con .txt', 'CONOUT$'])(
    'does not mean a device on Windows: %j',
    (name) => {
      expect(safeName(name)).toBe(`_${name}`);
    },
  );

  it.each(['console.log', 'auxiliary.png', 'com10.txt', 'null'])('is kept when it only begins like one: %j', (name) => {
    expect(safeName(name)).toBe(name);
  });

  it.each([
    [`${'a'.repeat(296)}.png`, `${'a'.repeat(196)}.png`],
    [`${'é'.repeat(150)}.png`, `${'é'.repeat(98)}.png`],
    [`${'😀'.repeat(75)}.tar.gz`, `${'😀'.repeat(48)}.tar.gz`],
    [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(198)}`],
    [`con${' '.repeat(300)}x`, '_con'],
  ])('of 300 bytes and more is cut between characters and keeps its extension', (name, safe) => {
    expect(safeName(name)).toBe(safe);
    expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200);
  });

  const unit = fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('.', ' ', '/', '\\', '\r', '\n', '"', '\u202e', '\u0301', '\ud800', 'con'),
    },
    { weight: 2, arbitrary: fc.constantFrom('a', 'é', 'İ', '😀', '.png', '.tar.gz') },
    { weight: 1, arbitrary: fc.nat(250).map((length) => 'x '.repeat(length)) },
  );
  const anyName = fc.array(unit, { maxLength: 30 }).map((parts) => parts.join(''));

  it('is never empty, at most 200 bytes, without separators or control characters, and safe again as it is', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const safe = safeName(name);

        expect(safe).not.toBe('');
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200);
        expect(safe).not.toMatch(/[/\\\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}<>:"|?*]|^[.\s]|[.\s]$/u);
        expect(safe.isWellFormed()).toBe(true);
        expect(safeName(safe)).toBe(safe);
      }),
      { numRuns: 3_000 },
    );
  });

  it('of any length is made in a moment', () => {
    expect(safeName('😀'.repeat(200_000))).toBe('😀'.repeat(50));
  });
});

describe('an extension', () => {
  it.each([
    ['a.png', 'png'],
    ['A.PNG', 'png'],
    ['a.b.c', 'c'],
    ['a.tar.gz', 'tar.gz'],
    ['a.TAR.XZ', 'tar.xz'],
    ['tar.gz', 'gz'],
    ['.png', ''],
    ['png', ''],
    ['a.', ''],
    ['a. b', ''],
    ['', ''],
    ['dir.d/file', ''],
  ])('of %j is %j', (name, extension) => {
    expect(extensionOf(name)).toBe(extension);
  });

  it.each([
    ['a.png', 'webp', 'a.webp'],
    ['a', 'webp', 'a.webp'],
    ['a.b.tar.gz', 'zip', 'a.b.zip'],
    ['photo.İ', 'png', 'photo.png'],
    ['.hidden', 'png', 'hidden.png'],
    ['', 'png', 'png'],
  ])('of %j becomes %j: %j', (name, extension, changed) => {
    expect(withExtension(name, extension)).toBe(changed);
  });
});

describe('names in one archive', () => {
  it('are numbered from the second on, before the extension as it was written', () => {
    expect(uniqueNames(['a.png', 'A.PNG', 'a.png', 'b', 'b', 'c.tar.gz', 'c.tar.gz'])).toEqual([
      'a.png',
      'A (2).PNG',
      'a (3).png',
      'b',
      'b (2)',
      'c.tar.gz',
      'c (2).tar.gz',
    ]);
  });

  it('do not meet a name that has such a number already', () => {
    expect(uniqueNames(['a.png', 'a (2).png', 'a.png'])).toEqual(['a.png', 'a (2).png', 'a (3).png']);
    expect(uniqueNames(['a.png', 'a.png', 'A (2).png'])).toEqual(['a.png', 'a (3).png', 'A (2).png']);
  });

  it('are unique whatever they are, and those that were alone stay as they are', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a.png', 'A.png', 'a (2).png', 'a (3).png', 'b', 'İ.İ', 'İ')), (names) => {
        const unique = uniqueNames(names);

        expect(new Set(unique.map((name) => name.toLowerCase())).size).toBe(names.length);
        expect(unique[0]).toBe(names[0]);
        const first = (name: string, index: number) =>
          names.findIndex((other) => other.toLowerCase() === name.toLowerCase()) === index;
        expect(unique.filter((_name, index) => first(names[index] ?? '', index))).toEqual(names.filter(first));
      }),
    );
  });
});

/** Reads a Content-Disposition as a browser does: the extended form wins over the plain one. */
function readDisposition(header: string): string {
  const match = /^attachment; filename="([^"]*)"(?:; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*))?$/.exec(header);
  if (!match) throw new Error(`Not a header of RFC 6266: ${header}`);
  const [, plain = '', extended] = match;
  return extended === undefined ? plain : decodeURIComponent(extended);
}

describe('a Content-Disposition', () => {
  it.each([
    ['a.png', 'attachment; filename="a.png"'],
    ['é.png', 'attachment; filename="_.png"; filename*=UTF-8\'\'%C3%A9.png'],
    ["it's (1)*.png", 'attachment; filename="it\'s (1)*.png"'],
    ['100%.png', 'attachment; filename="100_.png"; filename*=UTF-8\'\'100%25.png'],
  ])('of %j is %j', (name, header) => {
    expect(contentDisposition(name)).toBe(header);
  });

  it.each(['"; filename="evil.exe', 'a\r\nSet-Cookie: x=1', "é'()*\\.png", 'ملف.pdf', '日本 語.pdf', '😀%41.png'])(
    'gives %j back as one value',
    (name) => {
      expect(readDisposition(contentDisposition(name))).toBe(name);
    },
  );

  it('gives any name back, in printable ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const header = contentDisposition(name);

        expect(header).toMatch(/^[\x20-\x7e]*$/);
        expect(readDisposition(header)).toBe(name.toWellFormed());
      }),
    );
  });

  it('does not fail for half a character', () => {
    expect(readDisposition(contentDisposition('a\ud800.png'))).toBe('a\ufffd.png');
  });
});
