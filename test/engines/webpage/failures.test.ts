import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { decode, expectColour } from './matrix.ts';
import { convertFile, convertHtml, temporaryFolder } from './site.ts';

describe('pages that are broken or cannot be rendered', () => {
  afterAll(closeBrowser);

  it('reports that an empty file is empty', async () => {
    await expect(convertHtml('', 'pdf')).rejects.toThrow(new EngineError('The file is empty.'));
  });

  it('reports a margin that leaves no room', async () => {
    await expect(convertHtml('<p>x', 'pdf', { margin: 100, page_size: 'A6' })).rejects.toThrow(/leaves no room/);
  });

  it('renders truncated markup', async () => {
    const { path } = await convertHtml('<body style="background:green"><table><tr><td>cell <img src="', 'png');

    expectColour((await decode(path)).at(500, 500), [0, 128, 0], 'behind the cut');
  });

  it('renders a page without its missing images', async () => {
    const { path } = await convertHtml(
      '<body style="background:green"><img src="missing.png"><img src="https://nowhere.invalid/x.png">',
      'png',
    );

    expectColour((await decode(path)).at(500, 500), [0, 128, 0], 'next to the images');
  });

  it('renders bytes that are not HTML as text', async () => {
    const path = join(await temporaryFolder(), 'noise.html');
    await writeFile(path, Buffer.from([0, 1, 2, 255, 254, 65, 66, 67, 0, 200]));

    const pdf = await convertFile(path, 'html', 'pdf');
    const { stdout } = await runProgram('pdftotext', [pdf.path, '-'], { cwd: dirname(path) });

    expect(stdout).toContain('ABC');
  });
});
