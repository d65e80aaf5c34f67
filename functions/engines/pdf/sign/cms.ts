import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { type Digest, digestOids, oids, signatureOids } from './algorithms.ts';
import { der, oid, sequence, set, tagged, tags } from './der.ts';
import { idOf } from './signed-data.ts';

export interface Identity {
  key: KeyObject;
  /** The signer's first. */
  certificates: [X509Certificate, ...X509Certificate[]];
}

interface Signing {
  identity: Identity;
  digest: Digest;
  /** Digest of the signed bytes. */
  content: Uint8Array;
  /** Returns a time stamp of a digest by the same algorithm. */
  timestamp?: ((digest: Buffer) => Promise<Uint8Array>) | undefined;
}

/** Makes a detached CMS signature with the attributes of a PAdES baseline signature. */
export async function signDetached({ identity, digest, content, timestamp }: Signing): Promise<Buffer> {
  const { key, certificates } = identity;
  const hash = (bytes: Uint8Array) => createHash(digest).update(bytes).digest();
  const digestAlgorithm = sequence(oid(digestOids[digest]));
  const [signer] = certificates;
  const attributes = [
    attribute(oids.contentType, oid(oids.data)),
    attribute(oids.messageDigest, der(tags.octets, content)),
    // The algorithm is left out if it is the default.
    attribute(
      oids.signingCertificateV2,
      sequence(
        sequence(sequence(...(digest === 'sha256' ? [] : [digestAlgorithm]), der(tags.octets, hash(signer.raw)))),
      ),
    ),
  ];
  const signature = sign(digest, set(...attributes), key);
  const unsigned = timestamp && [attribute(oids.signatureTimestamp, await timestamp(hash(signature)))];
  const isEc = key.asymmetricKeyType === 'ec';
  const { issuer, serial } = idOf(signer);
  const signerInfo = sequence(
    integer(1),
    sequence(issuer, serial),
    digestAlgorithm,
    retagged(tagged(0), set(...attributes)),
    sequence(oid(signatureOids[isEc ? 'ec' : 'rsa'][digest]), ...(isEc ? [] : [der(tags.null)])),
    der(tags.octets, signature),
    ...(unsigned ? [retagged(tagged(1), set(...unsigned))] : []),
  );
  const signedData = sequence(
    integer(1),
    set(digestAlgorithm),
    sequence(oid(oids.data)),
    der(tagged(0), ...certificates.map(({ raw }) => raw)),
    set(signerInfo),
  );
  return sequence(oid(oids.signedData), der(tagged(0), signedData));
}

function attribute(type: string, value: Uint8Array): Buffer {
  return sequence(oid(type), set(value));
}

function integer(value: number): Buffer {
  return der(tags.integer, Buffer.from([value]));
}

function retagged(tag: number, encoded: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), encoded.subarray(1)]);
}
