import { createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  AddressRefused,
  checkUrl,
  connectOptions,
  HostNotFound,
  isPublicAddress,
  lookupFunction,
  lookupPublic,
  parseAllowHosts,
} from '../../../shared/net/addresses.ts';

const nobody = parseAllowHosts('');

const refusedAddresses = `
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.1.2.3
  127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192
  192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
  239.255.255.250 240.0.0.1 255.255.255.255
  :: ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 ::127.0.0.1 ::7f00:1 ::8.8.8.8 ::ffff:127.0.0.1
  ::ffff:7f00:1 ::FFFF:169.254.169.254 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::127.0.0.1
  64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
  2002:7f00:1:: 2002:a9fe:a9fe::1 2002:808:808::1 3ffe::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fd00::1 fd00:ec2::254
  fe80::1 fe80::1%eth0 fe80::5efe:127.0.0.1 2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:a00:1
  2606:4700:1:2:0:5efe:: 2606:4700:1:2:200:5efe:0:0 2606:4700:1:2:0000:5EFE:10.0.0.1 fec0::1 ff00::1 ff02::1
  4000::1 8000::1
`
  .trim()
  .split(/\s+/);

const publicAddresses = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15 169.253.255.255
  169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
  2606:4700:4700::1111 2001:4860:4860::8888 2001:200::1 2a00:1450:4001:81b::200e 2003::1 2600::
  2606:4700:1:2:1:5efe:a00:1 2606:4700:1:0:5efe:1:2:3 2606:4700::5efe:1 3ffd:ffff::1 3fff:1000::1 2001:db7:ffff::1 2001:db9::1
`
  .trim()
  .split(/\s+/);

const refusedUrls = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://0/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0X7F.0.0.0x1/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://0177.0x0.0.1/',
  'http://127.0.0.1./',
  'http://127。0。0。1/',
  'http://127.0.0.1/',
  'http://①②⑦.⓪.⓪.①/',
  'http://%31%32%37.0.0.1/',
  'http://2852039166/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://169.16689662/',
  'http://10.1/',
  'http://192.168.257/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0::0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::FFFF:A9FE:A9FE]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[2002:7f00:1::]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://localhost/',
  'http://LOCALHOST:9001/',
  'http://localhost./',
  'http://lOcAlHoSt./',
  'http://anything.localhost/',
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'http://:secret@example.com/',
  'http://example.com@127.0.0.1/',
  'http://example.com:80@10.0.0.1/',
  'http://127.0.0.1\\@example.com/',
  'http:127.0.0.1/',
  'http:/\\127.0.0.1/',
  'https://127.0.0.1:443/',
  'file:///etc/passwd',
  'file://example.com/etc/passwd',
  'ftp://example.com/',
  'gopher://example.com/',
  'data:text/html,hello',
  'blob:http://example.com/1',
  'javascript:alert(1)',
  'chrome://version/',
  'ws://example.com/',
  'about:blank',
];

describe('the outbound policy', () => {
  it.each(refusedAddresses)('does not count %s as public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(publicAddresses)('counts %s as public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '',
    'example.com',
    '1.2.3',
    '08.8.8.8',
    '8.8.8.8 ',
    '1.1.1.1:80',
    '[2606:4700::1]',
    '2606:4700::1%1',
    'zz::1',
  ])('does not count %j, which is not an address, as public', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it('never counts an IPv4 address that is embedded in an IPv6 address as public', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        for (const prefix of ['::ffff:', '::', '64:ff9b::', '2606:4700::5efe:', '2606:4700::200:5efe:'])
          expect(isPublicAddress(`${prefix}${address}`)).toBe(false);
      }),
    );
  });

  it('names the setting that allows an address if the service runs locally', () => {
    const refusedBy = () => {
      try {
        checkUrl(new URL('http://10.0.0.1:8080/a.png'));
      } catch (error) {
        return String(error);
      }
      return '';
    };
    expect(refusedBy()).toMatch(/"10.0.0.1" is not a public address, so it cannot be used\.$/);
    vi.stubEnv('LATHE_LOCAL', 'true');
    expect(refusedBy()).toMatch(/To allow it, start the service with LATHE_ALLOW_HOSTS=10.0.0.1\.$/);
  });

  it.each(refusedUrls)('refuses the URL %s', (text) => {
    expect(() => checkUrl(new URL(text))).toThrow(AddressRefused);
  });

  it.each([
    ['http://example.com/', 'example.com', 80],
    ['https://example.com/', 'example.com', 443],
    ['https://EXAMPLE.com.:8443/x', 'example.com', 8443],
    ['http://8.8.8.8/', '8.8.8.8', 80],
    ['http://134744072/', '8.8.8.8', 80],
    ['http://[2606:4700:4700::1111]:81/', '2606:4700:4700::1111', 81],
    ['http://localhost.example.com/', 'localhost.example.com', 80],
  ])('accepts the URL %s before its lookup', (text, hostname, port) => {
    expect(checkUrl(new URL(text))).toEqual({ hostname, port });
  });

  it('names the host but not its address when a name resolves to a private one', async () => {
    const resolve = async () => [{ address: '10.9.8.7', family: 4 }];

    const refusal = await lookupPublic('intranet.example.com', 80, nobody, resolve).catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(AddressRefused);
    expect(String(refusal)).toContain('intranet.example.com');
    expect(String(refusal)).not.toContain('10.9.8.7');
  });

  it('refuses a name if only one of its addresses is private', async () => {
    const resolve = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '::ffff:127.0.0.1', family: 6 },
    ];

    await expect(lookupPublic('mixed.example.com', 80, nobody, resolve)).rejects.toThrow(AddressRefused);
  });

  it('returns every address of a public name', async () => {
    const addresses = [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ];

    expect(await lookupPublic('Example.com.', 443, nobody, async () => addresses)).toEqual(addresses);
  });

  it.each(['127.0.0.1', '[::1]', '::1', '169.254.169.254', '127.0.0.1.', 'fe80::1%lo'])(
    'refuses the address %s as a host',
    async (host) => {
      await expect(lookupPublic(host, 80, nobody)).rejects.toThrow();
    },
  );

  it.each(['localhost', '2130706433', '0x7f.1', '0177.0.0.1', '127.1'])(
    'refuses the host %s, however the system resolves it',
    async (host) => {
      await expect(lookupPublic(host, 80, nobody)).rejects.toThrow();
    },
  );

  it('reports that a name was not found', async () => {
    const resolve = async () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));

    await expect(lookupPublic('nowhere.example.com', 80, nobody, resolve)).rejects.toThrow(HostNotFound);
    await expect(lookupPublic('empty.example.com', 80, nobody, async () => [])).rejects.toThrow(HostNotFound);
    await expect(lookupPublic('', 80, nobody)).rejects.toThrow(HostNotFound);
  });

  it('parses the allowed hosts of the operator', () => {
    expect([...parseAllowHosts(' Localhost , 10.0.0.5:9000,[::1]:80,fd00::1, minio. ,, ')]).toEqual([
      'localhost',
      '10.0.0.5:9000',
      '::1:80',
      'fd00::1',
      'minio',
    ]);
    expect(parseAllowHosts(undefined).size).toBe(0);
    expect(() => parseAllowHosts('http://localhost/')).toThrow('LATHE_ALLOW_HOSTS');
  });

  it('allows a host on one port only if the entry names a port', async () => {
    const allow = parseAllowHosts('127.0.0.1:8080,files.internal');
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }];

    expect(checkUrl(new URL('http://127.0.0.1:8080/'), allow)).toEqual({ hostname: '127.0.0.1', port: 8080 });
    expect(() => checkUrl(new URL('http://127.0.0.1:8081/'), allow)).toThrow(AddressRefused);
    expect(await lookupPublic('127.0.0.1', 8080, allow)).toEqual([{ address: '127.0.0.1', family: 4 }]);
    await expect(lookupPublic('127.0.0.1', 80, allow)).rejects.toThrow(AddressRefused);
    expect(await lookupPublic('FILES.internal.', 22, allow, resolve)).toEqual([{ address: '10.0.0.1', family: 4 }]);
    await expect(lookupPublic('a.files.internal', 22, allow, resolve)).rejects.toThrow(AddressRefused);
  });

  it('connects to the checked address even if the name resolves differently later', async () => {
    const addresses = ['8.8.8.8', '127.0.0.1'];
    const resolve = async () => [{ address: addresses.shift() ?? '', family: 4 }];

    const options = await connectOptions('rebinding.example.com', 80, nobody, resolve);
    const used = await new Promise((done) => options.lookup(options.host, {}, (_error, address) => done(address)));

    expect(used).toBe('8.8.8.8');
    expect(addresses).toEqual(['127.0.0.1']);
  });

  it('returns addresses in the form that the connection requests', async () => {
    const resolve = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ];
    const lookup = lookupFunction(443, nobody, resolve);
    const ask = (options: Parameters<typeof lookup>[1]) =>
      new Promise((done) => lookup('example.com', options, (...result) => done(result)));

    expect(await ask({ all: true })).toEqual([null, await resolve()]);
    expect(await ask({ family: 6 })).toEqual([null, '2606:4700::1111', 6]);
    expect(await ask({})).toEqual([null, '8.8.8.8', 4]);
  });

  it('fails a connection to a private name before it is opened', async () => {
    const server = createServer();
    let connections = 0;
    server.on('connection', () => connections++);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const lookup = lookupFunction(port, nobody, async () => [{ address: '127.0.0.1', family: 4 }]);
    const { request } = await import('node:http');

    const failure = await new Promise((done) =>
      request({ host: 'sly.example.com', port, lookup }).on('error', done).on('response', done).end(),
    );
    server.close();

    expect(failure).toBeInstanceOf(AddressRefused);
    expect(connections).toBe(0);
  });
});
