import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Checksum } from './checksums.ts';
import { S3Error } from './error.ts';
import type { S3Operation } from './operations.ts';
import type { Blob, Metadata, ObjectStore, StoredObject } from './store.ts';
import { parseXml, type XmlContent, type XmlNode, xmlDocument } from './xml.ts';

const maxXmlBytes = 16 * 1024 * 1024;

/** The body of a DeleteObjects request. */
export interface Deletion {
  keys: string[];
  /** Whether the response omits deleted keys. */
  quiet: boolean;
}

/** An S3 request that passed the gate, with its decoded body; `query` has no signature. */
export interface S3Request {
  operation: S3Operation;
  bucket: string;
  key: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Readable | undefined;
  /** Returns the verified checksum of the body, once it was read. */
  checksum(): Checksum | undefined;
  /** The client's URL of the object. */
  location: string;
  /** Set for DeleteObjects, whose body was read for authorization. */
  deletion?: Deletion | undefined;
}

export type ObjectCreation = 'Put' | 'Post' | 'Copy' | 'CompleteMultipartUpload';
export type CreationListener = (kind: ObjectCreation, object: StoredObject) => Promise<void> | void;

/** Stores the files of forms, which the gate reads itself. Files are invisible until they are committed. */
export interface FormStore {
  write(content: Readable): Promise<Blob>;
  commit(bucket: string, key: string, blob: Blob, about: { metadata: Metadata }): Promise<StoredObject> | StoredObject;
  discard(blob: Blob): void;
}

export interface S3Service {
  handle(request: S3Request, res: ServerResponse): Promise<void>;
  /** Sets the listener that is notified of a new object before its writer gets the response. */
  onCreated(listener: CreationListener): void;
  forms: FormStore;
  close(): void;
}

/** Handles an operation on an existing bucket. */
export type Handler = (
  request: S3Request,
  res: ServerResponse,
  context: { store: ObjectStore; region: string; created: CreationListener },
) => Promise<void> | void;

/** Reads the body of a request as XML with this root element. */
export async function readXml(body: Readable | undefined, root: string): Promise<XmlNode> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxXmlBytes) throw new S3Error('MaxMessageLengthExceeded', 'Your request was too big.');
    chunks.push(chunk);
  }
  const document = parseXml(Buffer.concat(chunks).toString());
  if (document?.name !== root) throw malformedXml();
  return document;
}

export function malformedXml(): S3Error {
  return new S3Error(
    'MalformedXML',
    'The XML you provided was not well-formed or did not validate against our published schema.',
  );
}

/** Reads an integer parameter of at most ten digits. */
export function integerParameter(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name) ?? String(fallback);
  if (!/^\d{1,10}$/.test(text)) throw new S3Error('InvalidArgument', `Provided ${name} not an integer`);
  return Number(text);
}

export function respondEmpty(res: ServerResponse, status: 200 | 204 = 200): void {
  res.statusCode = status;
  if (status !== 204) res.setHeader('content-length', 0);
  res.end();
}

export function respondXml(res: ServerResponse, root: string, content: XmlContent, status = 200): void {
  sendXml(res, status, xmlDocument(root, content));
}

export function respondError(res: ServerResponse, error: S3Error): void {
  sendXml(res, error.status, error.toXml());
}

function sendXml(res: ServerResponse, status: number, body: string): void {
  res.statusCode = status;
  res.setHeader('content-type', 'application/xml');
  res.setHeader('content-length', Buffer.byteLength(body));
  res.end(body);
}
