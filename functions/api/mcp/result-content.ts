import { isUtf8 } from 'node:buffer';
import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { Lathe, ResultFile } from '../../../packages/client/src/index.ts';

const maxTextBytes = 100_000;
const maxPictureBytes = 1_000_000;
/** Of all files of a response: in base64 they are a third larger, and a response of Lambda has 6 MB at most. */
const maxBytes = 3_000_000;
const maxFiles = 10;

const text = /^(?:text\/.+|application\/(?:json|xml|.+\+(?:json|xml))|image\/svg\+xml)$/;
/** What models read as pictures. */
const picture = /^image\/(?:png|jpeg|gif|webp)$/;

/** Reads files of results that are small enough for an agent to be given, over all that is asked in one request. */
export class ResultContent {
  readonly #lathe: Lathe;
  #bytesLeft = maxBytes;
  #filesLeft = maxFiles;

  constructor(lathe: Lathe) {
    this.#lathe = lathe;
  }

  /** Returns the content of each file, or undefined in the place of one that is not given. */
  async of(files: ResultFile[], signal: AbortSignal): Promise<(ContentBlock | undefined)[]> {
    const blocks: (ContentBlock | undefined)[] = [];
    for (const file of files) blocks.push(this.#takes(file) ? await this.#read(file, signal) : undefined);
    return blocks;
  }

  #takes({ media_type, size }: ResultFile): boolean {
    const limit = text.test(media_type) ? maxTextBytes : picture.test(media_type) ? maxPictureBytes : 0;
    if (size > Math.min(limit, this.#bytesLeft) || this.#filesLeft === 0) return false;
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
