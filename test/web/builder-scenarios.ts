import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import sharp from 'sharp';
import { beforeEach, describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { until } from '../support/until.ts';
import { chooseFormat, click, shows } from './browser.ts';
import { fileUrl, folder, page, path, service } from './running-page.ts';

const run = promisify(execFile);

const task = (name: string) => `li[aria-label="Task ${name}"]`;

/** Adds a task by keyboard: chooses the operation and presses Enter, which focuses the name. */
async function add(operation: string, name: string): Promise<void> {
  await page.waitForSelector('#operation');
  await page.select('#operation', operation);
  await page.focus('#operation + button');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.id.endsWith('-task-name'));
  await page.$eval(':focus', (input) => (input as HTMLInputElement).select());
  await page.keyboard.type(name);
  await page.waitForSelector(task(name));
}

/** Chooses an option of a task's select by its label. */
async function chooseIn(name: string, field: string, text: string): Promise<void> {
  const selector = `${task(name)} select[id$="-${field}"]`;
  await page.waitForFunction(
    (css, wanted) =>
      [...(document.querySelector<HTMLSelectElement>(css)?.options ?? [])].some(({ label }) => label === wanted),
    {},
    selector,
    text,
  );
  const value = await page.$eval(
    selector,
    (select, wanted) => [...(select as HTMLSelectElement).options].find(({ label }) => label === wanted)?.value ?? '',
    text,
  );
  await page.select(selector, value);
}

const upload = async (name: string, file: string) =>
  (await page.waitForSelector(`${task(name)} input[type=file]`))?.uploadFile(file);

describe('the builder', () => {
  beforeEach(async () => {
    await page.goto(`${service.url}/builder`);
  });

  test('a job of two branches is built, run, and edited as a new job', async () => {
    await add('import/upload', 'picture');
    await upload('picture', path('picture.png'));
    await add('convert', 'small');
    // Problems are shown at the task and in the graph.
    await page.waitForSelector(`${task('small')} .field .wrong`);
    await page.waitForSelector('.graph g.failed');
    await chooseFormat(page, 'webp', `${task('small')} button[id$=-output_format]`);
    await page.locator(`${task('small')} summary::-p-text(Options)`).click();
    await page.locator(`${task('small')} input[id$=-image_custom_width]`).fill('160');
    await add('convert', 'large');
    await page.locator('button[aria-label="Remove small from input of large"]').click();
    await chooseIn('large', 'input', 'picture');
    await chooseFormat(page, 'jpg', `${task('large')} button[id$=-output_format]`);
    await add('export/url', 'links');
    await chooseIn('links', 'input', 'small');
    await shows(page, 'Valid.');
    expect(await page.$$eval('.graph a', (boxes) => boxes.length)).toBe(4);
    await click(page, 'Run job');
    await page.waitForFunction(() => location.pathname.startsWith('/jobs/'));
    await page.waitForFunction(() => document.querySelectorAll('.graph g.completed').length === 4, { timeout: 60_000 });
    const links = await page.$$eval('tr:last-child a[download]', (all) => all.map(({ href }) => href));
    const results = await Promise.all(
      links.map(async (link) => sharp(Buffer.from(await (await fetch(link)).arrayBuffer())).metadata()),
    );
    expect(results.map(({ format, width }) => `${format} ${width}`).sort()).toEqual(['jpeg 320', 'webp 160']);
    await click(page, 'Edit as new job');
    await page.locator('#code-json').click();
    const json = await page.$eval('#code', (code) => code.textContent);
    expect(JSON.parse(json ?? '')).toEqual({
      tasks: {
        picture: { operation: 'import/upload' },
        small: { operation: 'convert', input: 'picture', output_format: 'webp', options: { image_custom_width: 160 } },
        large: { operation: 'convert', input: 'picture', output_format: 'jpg' },
        links: { operation: 'export/url', input: ['large', 'small'], archive_multiple_files: false },
      },
    });
    // The file of the first job is not copied.
    await shows(page, 'Valid.');
    await click(page, 'Run job');
    await shows(page, 'Choose a file for picture first.');
  });

  test('a draft survives a reload, without its secrets and files', async () => {
    await add('import/upload', 'picture');
    await upload('picture', path('picture.png'));
    await add('import/sftp', 'remote');
    await page.locator(`${task('remote')} input[id$=-host]`).fill('files.example.com');
    await page.locator(`${task('remote')} input[type=password]`).fill('hunter2');
    await add('convert', 'small');
    await chooseFormat(page, 'webp', `${task('small')} button[id$=-output_format]`);
    await page.reload();
    await shows(page, 'Choose picture.png again');
    expect(await page.$eval(`${task('remote')} input[id$=-host]`, (input) => (input as HTMLInputElement).value)).toBe(
      'files.example.com',
    );
    expect(
      await page.$eval(`${task('remote')} input[type=password]`, (input) => (input as HTMLInputElement).value),
    ).toBe('');
    await page.waitForSelector(`${task('small')} button[id$=-output_format][value=webp]`);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('hunter2');
    await click(page, 'Clear');
    await page.reload();
    await shows(page, 'No tasks yet');
  });

  test('a job is pasted as JSON, and its programs run it', async () => {
    const job = {
      tag: "a builder's",
      tasks: {
        remote: { operation: 'import/url', url: fileUrl('picture.png') },
        own: { operation: 'import/upload' },
        'as-gif': { operation: 'convert', input: 'remote', output_format: 'gif' },
        both: { operation: 'merge', input: ['own', 'as-gif'], output_format: 'pdf' },
        links: { operation: 'export/url', input: ['as-gif', 'both'], archive_multiple_files: false },
      },
    };
    await click(page, 'Paste a job as JSON');
    await page.locator('#pasted').fill(JSON.stringify(job));
    await click(page, 'Merge PDFs');
    await click(page, 'Use this JSON');
    await shows(page, 'The previous job was replaced.');
    await upload('own', path('picture.png'));
    await shows(page, 'picture.png,');
    const text = async (language: string) => {
      await page.locator(`#code-${language}`).click();
      await page.waitForSelector(`#code-${language}[aria-selected=true]`);
      return (await page.$eval('#code', (code) => code.textContent)) ?? '';
    };
    expect(JSON.parse(await text('json'))).toEqual(job);
    // A browser with a window copies without asking.
    await page.browserContext().overridePermissions(service.url, ['clipboard-sanitized-write']);
    // Only the page in front may copy, and another test may bring its own page to the front.
    await until('the code is copied', async () => {
      await page.bringToFront();
      return page.$$eval('main button', (buttons) => {
        buttons.find((button) => button.textContent === 'Copy')?.click();
        return buttons.some((button) => button.textContent === 'Copied');
      });
    });
    const programs = [
      { command: 'sh', file: 'run.sh', code: await text('curl') },
      { command: process.execPath, file: 'run.ts', code: await text('typescript') },
      { command: 'python3', file: 'run.py', code: await text('python') },
    ];
    await build({
      entryPoints: [join(projectRoot, 'packages/client/src/index.ts')],
      outfile: join(folder, 'node_modules/@lathe-convert/client/index.mjs'),
      ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' },
    });
    await writeFile(join(folder, 'node_modules/@lathe-convert/client/package.json'), '{"exports":"./index.mjs"}');
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const env = {
      ...process.env,
      LATHE_API_KEY: service.apiKey,
      PYTHONPATH: join(projectRoot, 'packages/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    await Promise.all(
      programs.map(async ({ command, file, code }) => {
        const cwd = join(folder, file.replace('.', '-'));
        await mkdir(cwd);
        await writeFile(join(cwd, 'picture.png'), await readFile(path('picture.png')));
        await writeFile(join(cwd, file), code);
        const { stdout } = await run(command, [file], { cwd, env });
        expect(stdout, file).toContain('completed');
        const made = await readdir(cwd);
        const pdf = made.find((name) => name.endsWith('.pdf')) ?? '';
        const gif = made.find((name) => name.endsWith('.gif')) ?? '';
        expect((await readFile(join(cwd, pdf))).subarray(0, 5).toString(), file).toBe('%PDF-');
        expect(await sharp(join(cwd, gif)).metadata(), file).toMatchObject({ format: 'gif', width: 320 });
      }),
    );
  });
});
