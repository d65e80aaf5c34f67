import { describe, expect, it } from 'vitest';
import { type Body, call, ended, importedTask, importPng } from './api.ts';

const convert = { operation: 'convert', input: 'in', output_format: 'webp' };

describe('A field that is clearly a mistake is refused with a hint', () => {
  it.each([
    ['an option outside of options', { quality: 1 }, 'quality', 'options.quality'],
    ['an option in another spelling', { autoOrient: true }, 'autoOrient', 'options.auto-orient'],
    ['a field in camel case', { inputFormat: 'png' }, 'inputFormat', 'input_format'],
    ['a field with exchanged letters', { input_fromat: 'png' }, 'input_fromat', 'input_format'],
    ['a field in the singular', { option: { quality: 1 } }, 'option', 'options'],
    ['a field in two words', { file_name: 'a.webp' }, 'file_name', 'filename'],
  ])('%s', async (_mistake, fields, name, meant) => {
    const message = `Unknown field "${name}": did you mean ${meant}?`;
    const job = await call('/v1/process/jobs', { body: { tasks: { in: importPng, out: { ...convert, ...fields } } } });
    expect([job.status, job.body.reason, job.body.errors]).toEqual([
      400,
      'unknown_field',
      { [`tasks.out.${name}`]: [message] },
    ]);
    const { operation: _operation, ...parameters } = convert;
    const task = await call('/v1/process/convert', { body: { ...parameters, ...fields, input: await importedTask() } });
    expect([task.status, task.body.reason, task.body.errors]).toEqual([400, 'unknown_field', { [name]: [message] }]);
  });

  it('and is named next to the field that is missing for it', async () => {
    const body = { tasks: { in: importPng, out: { operation: 'convert', input: 'in', outputFormat: 'webp' } } };
    const job = await call('/v1/process/jobs', { body });
    expect(job.status).toBe(400);
    expect(Object.keys(job.body.errors)).toEqual(['tasks.out.outputFormat', 'tasks.out.output_format']);
    const task = await call('/v1/process/convert', { body: { input: await importedTask(), output_fromat: 'webp' } });
    expect(task.body.errors).toMatchObject({
      output_fromat: ['Unknown field "output_fromat": did you mean output_format?'],
    });
  });

  it.each([
    [
      'of a job',
      '/v1/process/jobs',
      { tasks: { in: importPng }, tags: 'a' },
      { tags: ['Unknown field "tags": did you mean tag?'] },
    ],
    [
      'of an import',
      '/v1/process/import/base64',
      { file: importPng.file, fileName: 'a.png' },
      { fileName: ['Unknown field "fileName": did you mean filename?'] },
    ],
    [
      'of an API key',
      '/v1/account/keys',
      { name: 'a', expiresIn: 60 },
      { expiresIn: ['Unknown field "expiresIn": did you mean expires_in?'] },
    ],
  ])('%s', async (_what, path, body, errors) => {
    const response = await call(path, { body });
    expect([response.status, response.body.errors]).toMatchObject([400, errors]);
  });

  it.each([
    ['/v1/query/formats/convert?inputFormat=png', 'inputFormat', 'input_format'],
    ['/v1/process/tasks?perPage=1', 'perPage', 'per_page'],
    ['/v1/process/jobs?stauts=failed', 'stauts', 'status'],
  ])('GET %s', async (path, name, meant) => {
    const { status, body } = await call(path);
    expect([status, body.errors]).toEqual([400, { [name]: [`Unknown field "${name}": did you mean ${meant}?`] }]);
  });
});

describe('Any other unknown field is ignored and listed in warnings', () => {
  const fields = { nonsense: true, engine: 'libvips', timeout: 60, 'weird "name"': [] };
  const warnings = (prefix: string) =>
    ['nonsense', 'engine', 'timeout', 'weird "name"'].map(
      (name) => `The field ${JSON.stringify(`${prefix}${name}`)} is unknown and was ignored.`,
    );

  it('of a task', async () => {
    const input = await importedTask();
    const created = await call('/v1/process/convert', { body: { input, output_format: 'webp', ...fields } });
    expect([created.status, created.body.warnings]).toEqual([201, warnings('')]);
    const shown: Body = await ended('tasks', created.body.id);
    expect(shown).toMatchObject({ status: 'completed', payload: { output_format: 'webp' } });
    expect(shown).not.toHaveProperty('warnings');
    expect(shown.payload).not.toHaveProperty('nonsense');
  });

  it('of a job and its tasks, also in a dry run and in a repeated request', async () => {
    const body = { tasks: { in: importPng, out: { ...convert, ...fields } }, purpose: 'test' };
    const expected = ['The field "purpose" is unknown and was ignored.', ...warnings('tasks.out.')];
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const created = await call('/v1/process/jobs', { body, headers });
    const again = await call('/v1/process/jobs', { body, headers });
    const dry = await call('/v1/process/jobs?dry_run=true', { body });
    expect([created.status, created.body.warnings]).toEqual([201, expected]);
    expect([again.body.id, again.body.warnings]).toEqual([created.body.id, expected]);
    expect([dry.status, dry.body.warnings]).toEqual([200, expected]);
  });

  it('up to twenty of them, and none where there are none', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_value, index) => [`x${index}y${index}z`, index]));
    const created = await call('/v1/process/import/upload', { body: many });
    expect(created.body.warnings).toHaveLength(20);
    expect(created.body.warnings.at(-1)).toBe('1981 more unknown fields were ignored.');
    expect((await call('/v1/process/import/upload', { method: 'POST' })).body).not.toHaveProperty('warnings');
  });

  it('a field that is like one which the task has', async () => {
    const body = { tasks: { in: importPng, out: { ...convert, outputFormat: 'webp' } } };
    const { status, body: job } = await call('/v1/process/jobs', { body });
    expect([status, job.warnings]).toEqual([201, ['The field "tasks.out.outputFormat" is unknown and was ignored.']]);
  });
});
