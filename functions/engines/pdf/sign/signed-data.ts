import { constants, createHash, timingSafeEqual, verify, X509Certificate } from 'node:crypto';
import { type BaseBlock, fromBER } from 'asn1js';
import { digestsByOid, oids, signaturesByOid } from './algorithms.ts';
import { tags } from './der.ts';

/** A signature that does not follow its format, or uses an algorithm that is not supported. */
export class BadSignature extends Error {
  override name = 'BadSignature';
}

export interface SignedData {
  contentType: string;
  /** Absent if it is detached. */
  content: Buffer | undefined;
  certificates: X509Certificate[];
  signer: SignerInfo;
}

interface SignerInfo {
  issuer: Buffer | undefined;
  serial: Buffer | undefined;
  keyId: Buffer | undefined;
  digest: string;
  signed: Map<string, Node>;
  /** As it was signed. */
  signedBytes: Buffer;
  signature: Buffer;
  algorithm: Node;
  unsigned: Map<string, Node>;
}

const maxCertificates = 100;

/** Parses a CMS signature with one signer. Zeros may follow it. */
export function parseSignedData(bytes: Uint8Array): SignedData {
  const { node, length } = Node.parse(bytes);
  if (bytes.subarray(length).some((byte) => byte !== 0)) throw new BadSignature('Other data follows the signature.');
  const [type, wrapped] = node.items(tags.sequence);
  if (type?.oid() !== oids.signedData || !wrapped) throw new BadSignature('The signature is not CMS signed data.');
  const [signedData] = wrapped.items(0xa0);
  const [, , encapsulated, ...rest] = signedData?.items(tags.sequence) ?? [];
  const [contentType, content] = encapsulated?.items(tags.sequence) ?? [];
  const [signer, another] = rest.find(({ tag }) => tag === tags.set)?.items(tags.set) ?? [];
  if (!contentType || !signer) throw new BadSignature('The signature has no signer.');
  if (another) throw new BadSignature('The signature has several signers.');
  const certificates = rest.find(({ tag }) => tag === 0xa0)?.items(0xa0) ?? [];
  return {
    contentType: contentType.oid(),
    content: content?.items(0xa0)[0]?.octets(),
    certificates: certificates.slice(0, maxCertificates).flatMap(certificateOf),
    signer: parseSigner(signer),
  };
}

function certificateOf({ bytes }: Node): X509Certificate[] {
  try {
    return [new X509Certificate(bytes)];
  } catch {
    return [];
  }
}

function parseSigner(node: Node): SignerInfo {
  const [, sid, digestAlgorithm, ...rest] = node.items(tags.sequence);
  const signed = rest[0]?.tag === 0xa0 ? rest.shift() : undefined;
  const [algorithm, signature, unsigned] = rest;
  if (!sid || !digestAlgorithm || !signed || !algorithm || !signature)
    throw new BadSignature('The signature has no signed attributes.');
  const [issuer, serial] = sid.tag === tags.sequence ? sid.items(tags.sequence) : [];
  const name = digestsByOid[digestAlgorithm.items(tags.sequence)[0]?.oid() ?? ''];
  if (name === undefined) throw new BadSignature('The digest algorithm of the signature is not supported.');
  return {
    issuer: issuer?.bytes,
    serial: serial?.bytes,
    keyId: sid.tag === 0x80 ? sid.content : undefined,
    digest: name,
    signed: attributesOf(signed, 0xa0),
    // The tag in the signature is another than that of the signed set.
    signedBytes: Buffer.concat([Buffer.from([tags.set]), signed.bytes.subarray(1)]),
    signature: signature.octets(),
    algorithm,
    unsigned: unsigned ? attributesOf(unsigned, 0xa1) : new Map(),
  };
}

/** Returns the values of attributes. Each must occur once and have one value, so that no reader picks another. */
function attributesOf(node: Node, tag: number): Map<string, Node> {
  const found = new Map<string, Node>();
  for (const attribute of node.items(tag)) {
    const [type, values] = attribute.items(tags.sequence);
    const [value, another] = values?.items(tags.set) ?? [];
    if (!type || !value) throw new BadSignature('An attribute of the signature has no value.');
    if (another || found.has(type.oid())) throw new BadSignature('An attribute of the signature has several values.');
    found.set(type.oid(), value);
  }
  return found;
}

/** Returns the certificate that a signature names as its signer's. */
export function signerOf({ certificates, signer }: SignedData): X509Certificate | undefined {
  return certificates.find((certificate) => {
    if (signer.keyId) return keyIdOf(certificate)?.equals(signer.keyId);
    const { issuer, serial } = idOf(certificate);
    return signer.issuer?.equals(issuer) === true && signer.serial?.equals(serial) === true;
  });
}

/**
 * Checks that a signature was made with the key of a certificate for this content, given by a function that digests it. Throws
 * a `BadSignature` if not.
 */
export async function checkSignature(
  { contentType, signer }: SignedData,
  certificate: X509Certificate,
  digestOf: (algorithm: string) => Promise<Buffer> | Buffer,
): Promise<void> {
  const { signed, signedBytes, digest } = signer;
  if (signed.get(oids.contentType)?.oid() !== contentType)
    throw new BadSignature('The signed type of the content is not that of the signature.');
  if (!isEqual(signed.get(oids.messageDigest)?.octets(), await digestOf(digest)))
    throw new BadSignature('The content is not the signed one.');
  if (!verifyBytes(signedBytes, signer, certificate))
    throw new BadSignature('The signature was not made with the key of its certificate.');
  checkSigningCertificate(signed, certificate);
}

function verifyBytes(bytes: Buffer, { algorithm, digest, signature }: SignerInfo, certificate: X509Certificate) {
  const [type] = algorithm.items(tags.sequence);
  const { publicKey } = certificate;
  const kind = publicKey.asymmetricKeyType;
  const name = type?.oid() ?? '';
  const known = name === oids.rsa ? { key: 'rsa', digest } : signaturesByOid[name];
  try {
    if (known?.key === kind && known?.digest === digest) return verify(digest, bytes, publicKey, signature);
    if (name === oids.rsaPss && (kind === 'rsa' || kind === 'rsa-pss'))
      return verify(digest, bytes, { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING }, signature);
  } catch {
    return false;
  }
  throw new BadSignature('The algorithm of the signature is not supported, or not that of its certificate.');
}

/** Checks the attribute that protects a signature from another certificate with the same key. */
function checkSigningCertificate(signed: Map<string, Node>, certificate: X509Certificate): void {
  const isV2 = signed.has(oids.signingCertificateV2);
  const value = signed.get(oids.signingCertificateV2) ?? signed.get(oids.signingCertificate);
  if (!value) return;
  const [first] = value.items(tags.sequence)[0]?.items(tags.sequence) ?? [];
  const [one, two] = first?.items(tags.sequence) ?? [];
  const hasAlgorithm = isV2 && one?.tag === tags.sequence;
  const algorithm = hasAlgorithm ? digestsByOid[one.items(tags.sequence)[0]?.oid() ?? ''] : isV2 ? 'sha256' : 'sha1';
  const hash = (hasAlgorithm ? two : one)?.octets();
  if (algorithm === undefined || !isEqual(hash, createHash(algorithm).update(certificate.raw).digest()))
    throw new BadSignature('The signature is for another certificate.');
}

export function isEqual(one: Buffer | undefined, other: Buffer): boolean {
  return one?.length === other.length && timingSafeEqual(one, other);
}

/** Returns the encoded issuer and serial number of a certificate. */
export function idOf({ raw }: X509Certificate): { issuer: Buffer; serial: Buffer } {
  const fields = Node.parse(raw).node.items(tags.sequence)[0]?.items(tags.sequence) ?? [];
  const [serial, , issuer] = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  if (!serial || !issuer) throw new BadSignature('A certificate is damaged.');
  return { issuer: issuer.bytes, serial: serial.bytes };
}

function keyIdOf(certificate: X509Certificate): Buffer | undefined {
  const value = extensionOf(certificate, '2.5.29.14');
  return value && Node.parse(value).node.octets();
}

/** A value in ASN.1, as it was encoded. */
export class Node {
  readonly bytes: Buffer;
  readonly #block: BaseBlock;

  private constructor(block: BaseBlock) {
    this.#block = block;
    this.bytes = Buffer.from(block.valueBeforeDecodeView);
  }

  static parse(bytes: Uint8Array): { node: Node; length: number } {
    const { offset, result } = decode(bytes);
    if (offset < 0) throw new BadSignature('The signature is damaged.');
    return { node: new Node(result), length: offset };
  }

  get tag(): number {
    return this.bytes[0] ?? 0;
  }

  /** The bytes after its tag and length. */
  get content(): Buffer {
    const { lenBlock, idBlock } = this.#block;
    return this.bytes.subarray(idBlock.blockLength + lenBlock.blockLength);
  }

  /** Returns the values in a constructed one of the given tag. */
  items(tag: number): Node[] {
    const { value } = Object(this.#block.valueBlock);
    if (this.tag !== tag || !Array.isArray(value)) throw new BadSignature('The signature is damaged.');
    return value.map((block) => new Node(block));
  }

  oid(): string {
    if (this.tag !== tags.oid) throw new BadSignature('The signature is damaged.');
    return Object(this.#block.valueBlock).toString();
  }

  /** Returns the bytes of an octet string, which may be in parts. */
  octets(): Buffer {
    if (this.tag === tags.octets) return this.content;
    if (this.tag === 0x24) return Buffer.concat(this.items(0x24).map((part) => part.octets()));
    throw new BadSignature('The signature is damaged.');
  }

  /** Returns the text of a number or time. */
  text(): string {
    return this.content.toString('latin1');
  }
}

function decode(bytes: Uint8Array): ReturnType<typeof fromBER> {
  try {
    return fromBER(Uint8Array.from(bytes));
  } catch (cause) {
    throw new BadSignature('The signature is damaged.', { cause });
  }
}

/** Returns what the key of a certificate may be used for, if the certificate restricts it. */
export function keyUsageOf(certificate: X509Certificate): { canSign: boolean } | undefined {
  const bits = extensionOf(certificate, '2.5.29.15');
  // The first content byte counts unused bits. Bit 0 is digitalSignature, bit 1 nonRepudiation.
  return bits && { canSign: ((Node.parse(bits).node.content[1] ?? 0) & 0xc0) !== 0 };
}

function extensionOf({ raw }: X509Certificate, type: string): Buffer | undefined {
  const fields = Node.parse(raw).node.items(tags.sequence)[0]?.items(tags.sequence) ?? [];
  const extensions =
    fields
      .find(({ tag }) => tag === 0xa3)
      ?.items(0xa3)[0]
      ?.items(tags.sequence) ?? [];
  const found = extensions.map((each) => each.items(tags.sequence)).find(([id]) => id?.oid() === type);
  return found?.at(-1)?.octets();
}
