import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { uniqueNames } from '../../../shared/files/names.ts';
import { numberSettings } from '../../../shared/settings.ts';
import {
  diskBytes,
  inputProblem,
  maxFilesPerTask,
  maxInputBytes,
  maxResultBytes,
  maxSplitInputBytes,
  resultBytes,
  resultFailure,
} from '../../../shared/tasks/limits.ts';
import { routeTask } from '../../../shared/tasks/route.ts';
import type { StoredFile } from '../../../shared/tasks/task.ts';
import { makeTask } from './factory.ts';

const catalogue = new Catalogue(engineCatalogues);
const longMediaType = engineCatalogues
  .flatMap(({ formats }) => formats.map(({ mediaType }) => mediaType))
  .reduce((longest, type) => (type.length > longest.length ? type : longest));

/** Makes files whose records are as long as any can be. */
function longFiles(count: number): StoredFile[] {
  const names = uniqueNames(Array.from({ length: count }, () => `${'写'.repeat(65)}a.webp`));
  return names.map((name, index) => ({
    key: `files/${'a'.repeat(24)}/5/${index}`,
    name,
    size: 5_000_000_000,
    format: 'geojson',
    mediaType: longMediaType,
    token: 't'.repeat(24),
  }));
}

/** Counts an item as DynamoDB does: names and texts by their bytes, and a little for what holds others. */
function itemBytes(value: unknown): number {
  if (typeof value !== 'object' || value === null) throw new Error('This is no attribute.');
  const [[type, content] = ['', undefined]] = Object.entries(value);
  if (type === 'S') return Buffer.byteLength(String(content));
  if (type === 'N') return Math.ceil(String(content).length / 2) + 2;
  if (type === 'L' && Array.isArray(content)) return content.reduce((sum, item) => sum + 1 + itemBytes(item), 3);
  if (type === 'M' && typeof content === 'object' && content !== null) return 3 + attributesBytes(content);
  return 1;
}

function attributesBytes(attributes: object): number {
  return Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + 1 + Buffer.byteLength(name) + itemBytes(value),
    0,
  );
}

describe('the record of a task', () => {
  it('has room for as many files as a task may have, whatever their names', () => {
    const files = longFiles(maxFilesPerTask);
    expect(resultFailure(files)).toBeUndefined();
    expect(attributesBytes(marshall({ files }))).toBeLessThan(250_000);
    // Twice as many, as pages of a document once were, would not fit at all.
    expect(attributesBytes(marshall({ files: longFiles(2 * maxFilesPerTask) }))).toBeGreaterThan(390_000);
  });

  it('is never larger than its files and details are as JSON, which are bounded with room to spare', () => {
    const files = longFiles(200);
    const details = {
      locations: files.map(({ name, size }) => ({ filename: name, size, location: `s3://b/${name}` })),
    };
    expect(attributesBytes(marshall({ files, details }))).toBeLessThanOrEqual(resultBytes(files, details));
    expect(maxResultBytes).toBeLessThanOrEqual(400 * 1024 - 100_000);
  });

  it('refuses more files, and names that are too long', () => {
    expect(resultFailure(longFiles(maxFilesPerTask + 1))).toEqual({
      errorCode: 'processing_failed',
      msg: expect.stringMatching(/^The task has 501 files; one task has at most 500\. Choose fewer pages/),
    });
    const details = { locations: longFiles(400).map(({ name }) => ({ location: `${'p'.repeat(300)}${name}` })) };
    expect(resultFailure(longFiles(400), details)?.msg).toMatch(/names of the 400 files are too long/);
  });
});

describe('the inputs of a task', () => {
  const sized = (...sizes: number[]) => sizes.map((size) => ({ size }));

  it('may take half of the disk that an engine declares', () => {
    for (const { engine, resources } of engineCatalogues) {
      const most = maxInputBytes(resources);
      expect(most, engine).toBe(diskBytes(resources) / 2);
      expect(inputProblem(catalogue, engine, 'convert', sized(most)), engine).toBeUndefined();
      expect(inputProblem(catalogue, engine, 'convert', sized(most / 2, most / 2 + 1)), engine).toMatch(
        /^The input has [\d,]+ bytes; this operation takes at most [\d,]+ bytes in one task\./,
      );
    }
  });

  it('may take half of the disk of its jobs, if the engine has hours on AWS Batch', () => {
    for (const { resources } of engineCatalogues) {
      const long = { ...resources, batchHours: 1, batchDiskGigabytes: 105 };
      expect(maxInputBytes(long)).toBe(50 * 1024 ** 3);
    }
  });

  it('are held by the engine of media at the largest size that is taken in', () => {
    const size = numberSettings.maxFileBytes.defaultValue;
    expect(inputProblem(catalogue, 'media', 'convert', sized(size))).toBeUndefined();
  });

  it('may be larger if they are videos that are read in parts', () => {
    const half = diskBytes({ diskMegabytes: 10_240 }) / 2;
    const video = (format: string, size: number) => [{ size, format }];
    expect(inputProblem(catalogue, 'media', 'convert', video('mp4', 2 * half))).toBeUndefined();
    expect(inputProblem(catalogue, 'media', 'compress', video('mov', maxSplitInputBytes))).toBeUndefined();
    for (const [operation, files] of [
      ['convert', video('mp4', maxSplitInputBytes + 1)],
      ['trim', video('mp4', half + 1)],
      ['convert', video('mkv', half + 1)],
      ['convert', [...video('mp4', half), ...video('mp4', 1)]],
    ] as const)
      expect(inputProblem(catalogue, 'media', operation, [...files]), operation).toMatch(/^The input has/);
  });

  it('are counted if each becomes a file, and not if they are merged', () => {
    const many = sized(...Array<number>(maxFilesPerTask + 1).fill(1));
    expect(inputProblem(catalogue, 'image', 'convert', many)).toMatch(/^The input has 501 files/);
    expect(inputProblem(catalogue, 'image', 'merge', many)).toBeUndefined();
  });

  it('that are too large end the task before any engine fetches them', () => {
    const file = { key: 'k', name: 'a.png', size: 3_000_000_000, format: 'png', mediaType: 'image/png', token: 't' };
    const input = makeTask({ operation: 'import/upload', status: 'completed', files: [file] });
    const task = makeTask({ operation: 'convert', payload: { output_format: 'webp' } });
    expect(routeTask(catalogue, task, [input])).toEqual({
      failure: {
        errorCode: 'processing_failed',
        msg: 'The input has 3,000,000,000 bytes; this operation takes at most 2,147,483,648 bytes in one task. Split the input or make it smaller first.',
      },
    });
    const smaller = { ...input, files: [{ ...file, size: 2_000_000_000 }] };
    expect(routeTask(catalogue, task, [smaller])).toEqual({ engine: 'image' });
  });
});
