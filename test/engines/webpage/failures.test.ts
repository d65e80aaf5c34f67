import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { decode, expectColour } from './matrix.ts';
import { convertFile, convertHtml, temporaryFolder } from './site.ts';

describe('pages that cannot be rendered, or hardly', () => {
  afterAll(closeBrowser);

  it('says that a file of no bytes is empty', async () => {
    await expect(convertHtml('', 'pdf')).rejects.toThrow(new EngineError('The file is empty.'));
  });

  it('says that a margin leaves no room', async () => {
    await expect(convertHtml('<p>x', 'pdf', { margin: 100, page_size: 'A6' })).rejects.toThrow(/leaves no room/);
  });

  it('renders markup that is cut off in the middle', async () => {
    const { path } = await convertHtml('<body style="background:green"><table><tr><td>cell <img src="', 'png');

    expectColour((await decode(path)).at(500, 500), [0, 128, 0], 'behind the cut');
  });

  it('shows what is there of a page whose images are missing', async () => {
    const { path } = await convertHtml(
      '<body style="background:green"><img src="missing.png"><img src="https://nowhere.invalid/x.png">',
      'png',
    );

    expectColour((await decode(path)).at(500, 500), [0, 128, 0], 'beside the images');
  });

  it('renders bytes that are no HTML as the text they are', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'noise.html');
    await writeFile(path, Buffer.from([0, 1, 2, 255, 254, 65, 66, 67, 0, 200]));

    await expect(convertFile(path, 'html', 'png')).resolves.toBeDefined();
  });
});
