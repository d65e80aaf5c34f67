import { PDFDocument } from '@cantoo/pdf-lib';
import { expect, inject, test } from 'vitest';
import { call, createJob, ended, importPng, taskOf } from './api.ts';

const { url, apiKey } = inject('target');

async function twoPages(): Promise<PDFDocument> {
  const document = await PDFDocument.create();
  for (const text of ['First', 'Second']) document.addPage([300, 200]).drawText(text);
  return document;
}

const dataUri = async () => (await twoPages()).saveAsBase64({ dataUri: true });

test('an operation on a PDF runs as a task of a job', async () => {
  const file = await dataUri();
  const { id } = await createJob({
    import: { operation: 'import/base64', file, filename: 'pages.pdf' },
    turn: { operation: 'pdf/rotate', input: 'import', options: { angle: 90, page_range: '2' } },
  });
  const job = await ended('jobs', id);
  const { result, status } = taskOf(job, 'turn');
  expect([status, result]).toMatchObject(['completed', { files: [{ filename: 'pages.pdf', format: 'pdf' }] }]);
  const turned = await PDFDocument.load(await (await fetch(result.url)).arrayBuffer());
  expect(turned.getPages().map((page) => page.getRotation().angle)).toEqual([0, 90]);
});

test('an operation on a PDF runs within a request', async () => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await (await twoPages()).save())]), 'pages.pdf');
  form.append('options[angle]', '180');
  const response = await fetch(`${url}/v1/instant/pdf/rotate`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}` },
    body: form,
  });
  expect(response.status).toBe(200);
  const turned = await PDFDocument.load(await response.arrayBuffer());
  expect(turned.getPages().map((page) => page.getRotation().angle)).toEqual([180, 180]);
});

test('formats and options of an operation with two words are queried like those of others', async () => {
  const formats = await call('/v1/query/formats/pdf/rotate?input_format=pdf', { as: 'nobody' });
  expect(formats.body.formats).toMatchObject([{ ext: 'pdf' }]);
  const options = await call('/v1/query/options/pdf/rotate?input_format=pdf', { as: 'nobody' });
  expect(options.body).toMatchObject({ operation: 'pdf/rotate', targetExt: 'pdf' });
  expect((await call('/v1/query/formats/pdf/fold', { as: 'nobody' })).status).toBe(404);
});

test('files for a role wait like inputs, and are not worked on', async () => {
  const { id } = await createJob({
    picture: importPng,
    import: { operation: 'import/base64', file: await dataUri(), filename: 'pages.pdf' },
    mark: { operation: 'pdf/watermark', input: 'import', picture: ['picture'] },
  });
  const job = await ended('jobs', id);
  const mark = taskOf(job, 'mark');
  expect(mark.dependsOn).toEqual([taskOf(job, 'import').id, taskOf(job, 'picture').id]);
  expect(mark.payload.picture).toEqual([taskOf(job, 'picture').id]);
  expect(mark.result).toMatchObject({ files: [{ filename: 'pages.pdf' }] });
});

test('a missing file for a role is named', async () => {
  const { status, body } = await call('/v1/process/jobs', {
    body: { tasks: { page: importPng, compare: { operation: 'pdf/compare', input: 'page' } } },
  });
  expect([status, body.errors]).toEqual([400, { 'tasks.compare.original': [expect.stringContaining('missing')] }]);
});
