/** Names of OIDs that signatures use. */
export const oids = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  timestampInfo: '1.2.840.113549.1.9.16.1.4',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signatureTimestamp: '1.2.840.113549.1.9.16.2.14',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  rsa: '1.2.840.113549.1.1.1',
  rsaPss: '1.2.840.113549.1.1.10',
} as const;

/** Digests that new signatures may have. */
export type Digest = 'sha256' | 'sha384' | 'sha512';

export const digestOids: Record<Digest, string> = {
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
};

/** Digests by their OIDs. Signatures with SHA-1 are read, but are not valid. */
export const digestsByOid: Record<string, string> = {
  ...Object.fromEntries(Object.entries(digestOids).map(([name, dotted]) => [dotted, name])),
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.8': 'sha3-256',
  '2.16.840.1.101.3.4.2.9': 'sha3-384',
  '2.16.840.1.101.3.4.2.10': 'sha3-512',
};

const rsaWith: Record<Digest, string> = {
  sha256: '1.2.840.113549.1.1.11',
  sha384: '1.2.840.113549.1.1.12',
  sha512: '1.2.840.113549.1.1.13',
};
const ecdsaWith: Record<Digest, string> = {
  sha256: '1.2.840.10045.4.3.2',
  sha384: '1.2.840.10045.4.3.3',
  sha512: '1.2.840.10045.4.3.4',
};

export const signatureOids: Record<'rsa' | 'ec', Record<Digest, string>> = { rsa: rsaWith, ec: ecdsaWith };

/** The digests that the names of signature algorithms hold, with their kind of key. */
export const signaturesByOid: Record<string, { key: 'rsa' | 'ec'; digest: string }> = {
  ...Object.fromEntries(
    Object.entries(signatureOids).flatMap(([key, byDigest]) =>
      Object.entries(byDigest).map(([digest, dotted]) => [dotted, { key: key === 'ec' ? 'ec' : 'rsa', digest }]),
    ),
  ),
  '1.2.840.113549.1.1.5': { key: 'rsa', digest: 'sha1' },
  '1.2.840.10045.4.1': { key: 'ec', digest: 'sha1' },
};
