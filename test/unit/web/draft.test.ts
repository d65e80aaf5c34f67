import { describe, expect, it } from 'vitest';
import {
  draftLike,
  draftOf,
  emptyDraft,
  formatOf,
  inputFormatOf,
  type JobBody,
  jobOf,
  parseJob,
  possibleInputs,
  problemsByTask,
  restoredDraft,
  storedDraft,
  tasksOfSameName,
  withNewTask,
  withoutTask,
  withTask,
} from '../../../web/src/builder/draft.ts';
import type { Job } from '../../../web/src/service/types.ts';

const job: JobBody = {
  tag: 'x',
  tasks: {
    page: { operation: 'import/webpage', url: 'https://example.com/' },
    paper: { operation: 'convert', input: 'page', output_format: 'pdf', options: { margin: 5 } },
    small: { operation: 'compress', input: 'paper' },
    links: { operation: 'export/url', input: ['small', 'paper', '65a000000000000000000001'] },
  },
};

const named = (name: string, draft = draftOf(job)) => {
  const task = draft.tasks.find((each) => each.name === name);
  if (!task) throw new Error(`There is no ${name}.`);
  return task;
};

describe('the draft of a job', () => {
  it('is the job that it was read from', () => {
    expect(jobOf(draftOf(job))).toEqual(job);
    expect(jobOf(parseJob(JSON.stringify(job)))).toEqual(job);
  });

  it('keeps its links when a task is renamed, and loses those of a task that is removed', () => {
    const draft = draftOf(job);
    const renamed = withTask(draft, { ...named('paper', draft), name: 'sheet' });
    expect(jobOf(renamed).tasks).toMatchObject({
      small: { input: 'sheet' },
      links: { input: ['small', 'sheet', '65a000000000000000000001'] },
    });
    expect(jobOf(withoutTask(draft, named('paper', draft))).tasks.small).toEqual({ operation: 'compress' });
  });

  it('keeps the files for roles, when a task is renamed and of an existing job', () => {
    const marked: JobBody = {
      tasks: {
        logo: { operation: 'import/upload' },
        file: { operation: 'import/upload' },
        mark: { operation: 'pdf/watermark', input: 'file', picture: 'logo', filename: 'file' },
      },
    };
    const draft = draftOf(marked);
    expect(jobOf(draft)).toEqual(marked);
    const renamed = withTask(draft, { ...named('logo', draft), name: 'picture' });
    expect(jobOf(renamed).tasks.mark).toMatchObject({ input: 'file', picture: 'picture', filename: 'file' });
    expect(jobOf(withoutTask(draft, named('logo', draft))).tasks.mark).not.toHaveProperty('picture');
    const tasks = [
      { id: '1', name: 'logo', operation: 'import/upload', dependsOn: [], payload: {} },
      { id: '2', name: 'file', operation: 'import/upload', dependsOn: [], payload: {} },
      { id: '3', name: 'mark', operation: 'pdf/watermark', dependsOn: ['2', '1'], payload: { picture: ['1'] } },
    ];
    expect(jobOf(draftLike({ tag: null, tasks } as unknown as Job)).tasks.mark).toEqual({
      operation: 'pdf/watermark',
      input: 'file',
      picture: 'logo',
    });
  });

  it('gives a new task a free name and what is there as its input', () => {
    const once = withNewTask(emptyDraft, { name: 'import/url', takesInput: false });
    const thrice = withNewTask(withNewTask(once, { name: 'convert', takesInput: true }), {
      name: 'convert',
      takesInput: true,
    });
    expect(jobOf(thrice).tasks).toEqual({
      import: { operation: 'import/url' },
      convert: { operation: 'convert', input: 'import' },
      'convert-2': { operation: 'convert', input: 'convert' },
    });
  });

  it('offers as inputs what makes files and does not wait for the task', () => {
    const draft = draftOf(job);
    expect(possibleInputs(named('paper', draft), draft).map(({ name }) => name)).toEqual(['page']);
    expect(possibleInputs(named('links', draft), draft).map(({ name }) => name)).toEqual(['page', 'paper', 'small']);
  });

  it('knows the formats that follow from names and other tasks', () => {
    const draft = draftOf(job);
    expect(inputFormatOf(named('paper', draft), draft)).toBe('html');
    expect(formatOf(named('small', draft), draft)).toBe('pdf');
    const circle = draftOf({ tasks: { a: { operation: 'trim', input: 'b' }, b: { operation: 'trim', input: 'a' } } });
    expect(formatOf(circle.tasks[0], circle)).toBe('');
  });

  it('of an existing job leaves out what the service does not show', () => {
    const tasks = [
      { id: '1', name: 'in', operation: 'import/sftp', dependsOn: [], payload: { host: 'h', password: '********' } },
      {
        ...{ id: '2', name: 'out', operation: 'convert', dependsOn: ['1'] },
        payload: { output_format: 'pdf', options: { password: '********' } },
      },
    ];
    expect(jobOf(draftLike({ tag: null, tasks } as unknown as Job))).toEqual({
      tasks: {
        in: { operation: 'import/sftp', host: 'h' },
        out: { operation: 'convert', input: 'in', output_format: 'pdf' },
      },
    });
  });

  it.each([
    ['{', 'Expected JSON.'],
    ['[]', 'Expected a job'],
    ['{"tasks":[]}', 'Expected a job'],
    ['{"tasks":{"a":{}}}', 'the task a'],
  ])('is not read from %s', (text, problem) => {
    expect(() => parseJob(text)).toThrow(problem);
  });

  it('has each problem at its task, and names that are taken twice', () => {
    const draft = draftOf({ tasks: { a: { operation: 'x' }, 'a.b': { operation: 'y' } } });
    const [a, ab] = draft.tasks;
    const { byTask, others } = problemsByTask(draft, {
      'tasks.a.input': ['One.'],
      'tasks.a.b': ['Two.'],
      tasks: ['Three.'],
    });
    expect(byTask.get(a?.key ?? '')).toEqual([{ field: 'input', text: 'One.' }]);
    expect(byTask.get(ab?.key ?? '')).toEqual([{ field: '', text: 'Two.' }]);
    expect(others).toEqual(['tasks: Three.']);
    expect(tasksOfSameName(draft)).toEqual([]);
    expect(tasksOfSameName({ ...draft, tasks: draft.tasks.map((task) => ({ ...task, name: 'same' })) })).toHaveLength(
      2,
    );
  });
});

describe('A stored draft', () => {
  const isSecret = (operation: string, parameter: string) => operation === 'import/sftp' && parameter === 'password';
  const stored = (draft: Parameters<typeof storedDraft>[0]) => restoredDraft(storedDraft(draft, isSecret));

  it('is restored as it was, and new tasks have new keys', () => {
    const draft = draftOf(job);
    const restored = stored(draft);
    expect(restored).toEqual(draft);
    const keys = withNewTask(restored, { name: 'convert', takesInput: true }).tasks.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has no secrets, and only the names of files', () => {
    const draft = draftOf({
      tasks: {
        remote: { operation: 'import/sftp', host: 'example.com', password: 'hunter2' },
        own: { operation: 'import/upload' },
        open: { operation: 'convert', input: 'own', options: { password: 'hunter2', quality: 80 } },
      },
    });
    const [remote, own, open] = draft.tasks;
    if (!remote || !own || !open) throw new Error('The draft has three tasks.');
    const text = storedDraft(
      { ...draft, tasks: [remote, { ...own, file: new File(['secret'], 'a.pdf'), fileName: 'a.pdf' }, open] },
      isSecret,
    );
    expect(text).not.toContain('hunter2');
    const restored = restoredDraft(text);
    expect(restored.tasks[0]?.parameters).toEqual({ host: 'example.com' });
    expect(restored.tasks[1]).toEqual({ ...own, fileName: 'a.pdf' });
    expect(restored.tasks[2]?.parameters.options).toEqual({ quality: 80 });
    expect(formatOf(restored.tasks[1], restored)).toBe('pdf');
  });
});
