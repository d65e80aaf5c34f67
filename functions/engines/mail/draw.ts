import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { uniqueNames } from '../../../shared/files/names.ts';
import { EngineError } from '../runtime/engine.ts';
import { maxPages } from '../runtime/pages.ts';
import { checkPdf, damagedPdf, runTool, type Workspace } from '../runtime/pdf-file.ts';
import { PdfJoin } from '../runtime/pdf-join.ts';
import { attachmentPdf } from './attachments.ts';
import type { Attachment, Message } from './message.ts';
import { pageOf, type RemotePictures, writeMessage } from './page.ts';
import { drawPdf } from './pdf.ts';
import { loadPictures } from './remote.ts';
import { pagesOfRtf } from './rich-text.ts';

/** Limits for the attachments of one output. */
const maxConverted = 200;
const maxEmbedded = 500;
/** When the rest of the attachments is only listed, so that the work ends in time. */
const convertingMs = 300_000;

/** A PDF that becomes a part of the output. */
interface Piece {
  path: string;
  title: string;
}

/** Draws messages with their attachments to one PDF after the other. */
export class Drawing {
  readonly #pieces: Piece[] = [];
  readonly #embedded: Attachment[] = [];
  readonly #options: OptionValues;
  readonly #space: Workspace;
  readonly #warnings: Set<string>;
  readonly #started = Date.now();
  readonly #left: string[] = [];
  #converted = 0;
  #blocked = 0;
  #number = 0;

  constructor(options: OptionValues, space: Workspace, warnings: Set<string>) {
    this.#options = options;
    this.#space = space;
    this.#warnings = warnings;
  }

  /** Adds a message, and the attachments as requested. */
  async add(message: Message, title: string): Promise<void> {
    const { content, listed, blocked } = await composeMessage(message, this.#options, this.#space, this.#warnings);
    this.#blocked += blocked;
    const path = this.#place('pdf');
    for (const warning of await drawPdf(pageOf(title, [content]), path, this.#options, this.#space))
      this.#warnings.add(warning);
    this.#pieces.push({ path, title });
    const { attachments } = this.#options;
    if (attachments === 'append') for (const attachment of listed) await this.#append(attachment);
    if (attachments === 'embed') await this.#embed(listed);
  }

  async #append(attachment: Attachment): Promise<void> {
    const { mediaType, message, name } = attachment;
    // The body describes invitations.
    if (mediaType === 'text/calendar') return;
    this.#converted += 1;
    if (this.#converted > maxConverted || Date.now() - this.#started > convertingMs) {
      this.#left.push(name);
      return;
    }
    if (message) return this.add(message, name);
    try {
      const path = await attachmentPdf(attachment, this.#place('files'), this.#space);
      this.#pieces.push({ path, title: name });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#warnings.add(
        `The attachment ${JSON.stringify(name)} has no pages in the PDF: ${uncapitalized(error.message)}`,
      );
    }
  }

  async #embed(listed: Attachment[]): Promise<void> {
    for (const attachment of listed) {
      // A message in one of Outlook is no file of its own.
      if (attachment.message && attachment.bytes.length === 0) await this.#append(attachment);
      else if (attachment.bytes.length > 0 && this.#embedded.length < maxEmbedded) this.#embedded.push(attachment);
      else this.#left.push(attachment.name);
    }
  }

  #place(extension: string): string {
    this.#number += 1;
    return join(this.#space.folder, `piece-${this.#number}.${extension}`);
  }

  /** Writes the PDF. */
  async finish(output: string): Promise<void> {
    if (this.#blocked > 0) this.#warnings.add(notLoaded(this.#blocked, this.#options));
    if (this.#left.length > 0) this.#warnings.add(leftOut(this.#left));
    const [only] = this.#pieces;
    if (only && this.#pieces.length === 1 && this.#embedded.length === 0) {
      await writeFile(output, await readFile(only.path));
      return;
    }
    const pdf = await PDFDocument.create();
    pdf.setProducer('Lathe');
    if (only) pdf.setTitle(only.title);
    const joined = new PdfJoin(pdf);
    for (const { path, title } of this.#pieces) {
      try {
        const source = await PDFDocument.load(await this.#readable(path), { updateMetadata: false });
        if (pdf.getPageCount() + source.getPageCount() > maxPages) this.#warnings.add(tooManyPages(title));
        else joined.append(source, title, title);
      } catch (error) {
        if (path === only?.path) throw error;
        this.#warnings.add(
          `The attachment ${JSON.stringify(title)} has no pages in the PDF: ${uncapitalized(damagedPdf(error).message)}`,
        );
      }
    }
    for (const warning of joined.finish()) this.#warnings.add(warning);
    const names = uniqueNames(this.#embedded.map(({ name }) => name));
    const files = this.#embedded.map((attachment, index) => ({ ...attachment, name: names[index] ?? attachment.name }));
    // A name tree is in the order of its names.
    files.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const { bytes, mediaType, name } of files) await pdf.attach(bytes, name, { mimeType: mediaType });
    await writeFile(output, await pdf.save());
    await checkPdf(output, this.#space.folder, this.#space);
  }

  /** Returns a PDF without damage and in a form that the joining library reads. */
  async #readable(path: string): Promise<Buffer> {
    const clean = `${path}.clean`;
    await runTool('qpdf', ['--warning-exit-0', '--object-streams=disable', path, clean], this.#space);
    return readFile(clean);
  }
}

/** Writes a message as the content of a page, with the pictures that may be loaded. */
export async function composeMessage(message: Message, options: OptionValues, space: Workspace, warnings: Set<string>) {
  await pagesOfRtf(message, false, space.folder, warnings);
  const none: RemotePictures = new Map();
  const remote = options.remote_content === 'load' ? await loadPictures(message, space) : none;
  const blocked = new Set<string>();
  const written = writeMessage(message, remote, { blocked, warnings });
  return { ...written, blocked: blocked.size };
}

/** Returns the warning about pictures of other hosts. */
export function notLoaded(count: number, { remote_content: remote }: OptionValues): string {
  const pictures = `${count} ${count === 1 ? 'picture' : 'pictures'} of remote hosts`;
  return remote === 'load'
    ? `${pictures} could not be loaded.`
    : `${pictures} ${count === 1 ? 'was' : 'were'} not loaded. To load them, set remote_content to load.`;
}

const maxListed = 5;

function leftOut(names: string[]): string {
  const shown = names.slice(0, maxListed).map((name) => JSON.stringify(name));
  const more = names.length - shown.length;
  return `Attachments that are only listed, because there are too many: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

function tooManyPages(title: string): string {
  return `${JSON.stringify(title)} was left out: the PDF would have more than ${maxPages.toLocaleString('en')} pages.`;
}

function uncapitalized(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
