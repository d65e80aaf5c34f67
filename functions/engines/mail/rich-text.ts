import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRtf } from '../document/guards/containers.ts';
import { convertWithOffice } from '../document/office/office.ts';
import { EngineError } from '../runtime/engine.ts';
import type { Message } from './message.ts';

/** Gives rich texts a form as HTML, by LibreOffice. Those that also have plain text need none if that is what is wanted. */
export async function pagesOfRtf(
  { body }: Message,
  isText: boolean,
  folder: string,
  warnings: Set<string>,
): Promise<void> {
  for (const block of body) {
    if (!block.rtf || block.html !== undefined || (isText && block.text !== undefined)) continue;
    const [input, path] = [join(folder, 'body.rtf'), join(folder, 'body.html')];
    await writeFile(input, block.rtf);
    try {
      await writeFile(input, await readRtf(input));
      const store = { FilterName: 'HTML (StarWriter)', FilterOptions: 'EmbedImages' };
      await convertWithOffice({ input, load: { FilterName: 'Rich Text Format' }, outputs: [{ path, store }] });
      block.html = await readFile(path, 'utf8');
    } catch (error) {
      if (!(error instanceof EngineError) || block.text === undefined) throw error;
      warnings.add('The rich text of a message could not be read, so its plain text is shown.');
    }
  }
}
