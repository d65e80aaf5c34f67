import { isUtf8 } from 'node:buffer';
import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import mime from 'mime';
import type { Lathe, ResultFile } from '../../../packages/client/src/index.ts';

const maxTextBytes = 100_000;
const maxPictureBytes = 1_000_000;
/** Total size of the files in a response. Base64 adds a third, and Lambda limits responses to 6 MB. */
const maxBytes = 3_000_000;
const maxFiles = 10;

const text = /^(?:text\/.+|application\/(?:json|xml|.+\+(?:json|xml))|image\/svg\+xml)$/;
/** Image types that models support. */
const picture = /^image\/(?:png|jpeg|gif|webp)$/;

/** Reads result files that are small enough for an agent, within a budget per request. */
export class ResultContent {
  readonly #lathe: Lathe;
  #bytesLeft = maxBytes;
  #filesLeft = maxFiles;

  constructor(lathe: Lathe) {
    this.#lathe = lathe;
  }

  /** Returns whether small files of a format are returned. */
  accepts(format: string): boolean {
    return limitOf(mime.getType(format) ?? '') > 0;
  }

  /** Returns the content of each file, or undefined for files that are not returned. */
  async of(files: ResultFile[], signal: AbortSignal): Promise<(ContentBlock | undefined)[]> {
    const blocks: (ContentBlock | undefined)[] = [];
    for (const file of files) blocks.push(this.#takes(file) ? await this.#read(file, signal) : undefined);
    return blocks;
  }

  #takes({ media_type, size }: ResultFile): boolean {
    const limit = limitOf(media_type);
    if (limit === 0 || size > Math.min(limit, this.#bytesLeft) || this.#filesLeft === 0) return false;
    this.#bytesLeft -= size;
    this.#filesLeft -= 1;
    return true;
  }

  async #read(file: ResultFile, signal: AbortSignal): Promise<ContentBlock | undefined> {
    const bytes = Buffer.from(await (await this.#lathe.blob(file, { signal })).arrayBuffer());
    if (picture.test(file.media_type))
      return { type: 'image', data: bytes.toString('base64'), mimeType: file.media_type };
    return isUtf8(bytes) ? { type: 'text', text: bytes.toString('utf8') } : undefined;
  }
}

/** Returns the maximum size of a file that is returned. */
function limitOf(mediaType: string): number {
  return text.test(mediaType) ? maxTextBytes : picture.test(mediaType) ? maxPictureBytes : 0;
}
