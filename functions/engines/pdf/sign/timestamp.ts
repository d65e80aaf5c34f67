import type { X509Certificate } from 'node:crypto';
import { createHash } from 'node:crypto';
import { EngineError } from '../../runtime/engine.ts';
import type { Programs } from '../../runtime/pdf-file.ts';
import { digestsByOid, oids } from './algorithms.ts';
import { tags } from './der.ts';
import { BadSignature, checkSignature, isEqual, Node, parseSignedData, signerOf } from './signed-data.ts';
import { distrustOf } from './trust.ts';

export interface Token {
  time: Date;
  authority: X509Certificate;
  /** Why its time is not to be trusted. */
  distrust: string | undefined;
}

/** Checks that a time stamp is of what a function digests, and whether its authority is trusted. */
export async function checkToken(
  bytes: Uint8Array,
  digestOf: (algorithm: string) => Promise<Buffer> | Buffer,
  trusted: X509Certificate[],
  space: Programs,
): Promise<Token> {
  const data = parseSignedData(bytes);
  const { content } = data;
  if (data.contentType !== oids.timestampInfo || !content) throw new BadSignature('The time stamp is damaged.');
  const [, , imprint, , time] = Node.parse(content).node.items(tags.sequence);
  const [algorithm, hash] = imprint?.items(tags.sequence) ?? [];
  const digest = digestsByOid[algorithm?.items(tags.sequence)[0]?.oid() ?? ''];
  if (digest === undefined || digest === 'sha1')
    throw new BadSignature('The digest algorithm of the time stamp is not supported.');
  if (!isEqual(hash?.octets(), await digestOf(digest))) throw new BadSignature('The time stamp is of something else.');
  const authority = signerOf(data);
  if (!authority) throw new BadSignature('The time stamp has no certificate of its authority.');
  await checkSignature(data, authority, (name) => createHash(name).update(content).digest());
  const at = generalizedTime(time);
  const others = data.certificates.filter((each) => each !== authority);
  const distrust = await distrustOf({ certificate: authority, others, trusted, at, purpose: 'timestampsign' }, space);
  return { time: at, authority, distrust };
}

/** Returns the time stamp in the response of an authority. */
export function tokenIn(response: Uint8Array): Buffer {
  try {
    const [status, token] = Node.parse(response).node.items(tags.sequence);
    const [code] = status?.items(tags.sequence) ?? [];
    if (token && code && code.content.length === 1 && (code.content[0] ?? 2) <= 1) return token.bytes;
  } catch (error) {
    if (!(error instanceof BadSignature)) throw error;
  }
  throw new EngineError('The time stamp authority did not give a time stamp.');
}

function generalizedTime(node: Node | undefined): Date {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d+)?Z$/.exec(node?.text() ?? '') ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}Z`);
  if (Number.isNaN(time.getTime())) throw new BadSignature('The time stamp has no time.');
  return time;
}
