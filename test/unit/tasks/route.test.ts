import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkFile, routeTask } from '../../../shared/tasks/route.ts';
import { fileOf } from '../lifecycle/memory-records.ts';
import { makeTask } from './factory.ts';

const resources = {
  packaging: 'worker',
  memoryMegabytes: 512,
  diskMegabytes: 512,
  timeoutSeconds: 60,
  typicalSeconds: 1,
  maxConcurrency: 1,
} as const;
const catalogue = new Catalogue([
  {
    engine: 'image',
    summary: 'Converts images.',
    resources,
    formats: [
      { ext: 'png', mediaType: 'image/png' },
      { ext: 'jpg', mediaType: 'image/jpeg' },
      { ext: 'jpeg', mediaType: 'image/jpeg', aliasOf: 'jpg' },
      { ext: 'webp', mediaType: 'image/webp' },
    ],
    capabilities: [{ operation: 'convert', from: ['png', 'jpg'], to: ['webp', 'jpg'], options: [] }],
  },
  { engine: 'transfer', summary: 'Transfers.', resources, operations: ['export/url'], formats: [], capabilities: [] },
]);

function inputOf(format: string) {
  return makeTask({ status: 'completed', files: [{ ...fileOf('x', 1), format }] });
}

const convert = makeTask({ operation: 'convert', payload: { output_format: 'webp' } });
const failure = { errorCode: 'insufficient_permission', msg: expect.stringContaining('by the limit formats') };

describe('a task of a key that is limited to formats', () => {
  it('runs if the formats of its input, whatever its name, and its output are among them', () => {
    const task = { ...convert, limits: { formats: ['jpg', 'webp'] } };
    expect(routeTask(catalogue, task, [inputOf('jpeg')])).toEqual({ engine: 'image' });
  });

  it('fails if the detected format is not', () => {
    const task = { ...convert, limits: { formats: ['jpg', 'webp'] } };
    expect(routeTask(catalogue, task, [inputOf('png')])).toEqual({ failure });
  });

  it('fails for any of its inputs', () => {
    const task = { ...convert, limits: { formats: ['jpg', 'webp'] } };
    expect(routeTask(catalogue, task, [inputOf('jpg'), inputOf('png')])).toEqual({ failure });
  });

  it('exports no other format either', () => {
    const task = makeTask({ operation: 'export/url', limits: { formats: ['jpg'] } });
    expect(routeTask(catalogue, task, [inputOf('jpg')])).toEqual({ engine: 'transfer' });
    expect(routeTask(catalogue, task, [inputOf('png')])).toEqual({ failure });
  });

  it('is checked again by its worker, for the output too', () => {
    const file = { ...fileOf('x', 1), format: 'jpg' };
    expect(checkFile(catalogue, { ...convert, limits: { formats: ['jpg'] } }, file)).toEqual({ failure });
    expect(checkFile(catalogue, { ...convert, limits: { formats: ['jpg', 'webp'] } }, file)).toMatchObject({
      engine: 'image',
    });
  });
});

describe('a merge', () => {
  const formats = ['png', 'pdf', 'docx', 'mp3'].map((ext) => ({ ext, mediaType: `test/${ext}` }));
  const merges = (engine: string, from: string[], precedence: number) => ({
    ...{ engine, precedence, summary: '', resources, formats },
    capabilities: [{ operation: 'merge' as const, from, to: ['pdf'], options: [] }],
  });
  const engines = new Catalogue([
    merges('image', ['png', 'pdf'], 1),
    merges('document', ['png', 'pdf', 'docx'], 0),
    merges('media', ['mp3'], 0),
  ]);
  const task = makeTask({ operation: 'merge', payload: { output_format: 'pdf' } });

  it.each([
    [['png', 'pdf'], 'image'],
    [['pdf', 'docx'], 'document'],
    [['docx', 'png', 'pdf'], 'document'],
  ])('of %o goes to the engine %s, which takes them all', (inputs, engine) => {
    expect(routeTask(engines, task, inputs.map(inputOf))).toEqual({ engine });
  });

  it('of formats that no engine takes together fails with the formats', () => {
    expect(routeTask(engines, task, [inputOf('pdf'), inputOf('mp3')])).toEqual({
      failure: {
        errorCode: 'processing_failed',
        msg: 'Files of the formats pdf, mp3 cannot be merged with each other. Convert them to PDF first.',
      },
    });
  });
});

describe('the format that a task says its file has', () => {
  const declared = makeTask({ operation: 'convert', payload: { input_format: 'jpg', output_format: 'webp' } });
  const file = { ...fileOf('x', 1), name: 'file', format: '', content: '' };

  it('is believed of content that says nothing', () => {
    expect(checkFile(catalogue, declared, file)).toMatchObject({ engine: 'image' });
  });

  it('is refused if the content has another, with the detected format', () => {
    const { failure } = Object(checkFile(catalogue, declared, { ...file, format: 'png', content: 'png' }));
    expect(failure.msg).toBe(
      'The content of the file "file" looks like png, not jpg. Set input_format to what the file is, or leave it out.',
    );
  });

  it('is not needed to see that a page has the name of a picture, or that of another', () => {
    const page = { name: 'photo.jpg', format: 'jpg', content: 'html' };
    expect(Object(checkFile(catalogue, convert, page)).failure.msg).toBe(
      'The content of the file "photo.jpg" looks like html, not jpg. Check the source of the file, or set input_format to what the file is.',
    );
    const picture = { name: 'drawing.jpg', format: 'png', content: 'png' };
    const toWord = makeTask({ operation: 'convert', payload: { output_format: 'odt' } });
    expect(Object(checkFile(catalogue, toWord, picture)).failure.msg).toMatch(
      /^The content of the file "drawing.jpg" looks like png, not jpg\. Cannot convert "png" to "odt"\./,
    );
  });

  it('is asked for if neither content nor name shows it', () => {
    expect(checkFile(catalogue, convert, file)).toMatchObject({
      failure: {
        msg: 'The format of the file "file" shows neither in its content nor in its name. Set input_format.',
      },
    });
  });
});
