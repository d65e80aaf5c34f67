import type { JobBody, Json } from './draft.ts';

export interface Program {
  job: JobBody;
  /** Root of the API. */
  url: string;
  /** Files for `import/upload` tasks. */
  uploads: { task: string; path: string }[];
}

export interface Language {
  id: string;
  title: string;
  write(program: Program): string;
}

export const languages: Language[] = [
  { id: 'curl', title: 'curl', write: curl },
  { id: 'typescript', title: 'TypeScript', write: typescript },
  { id: 'python', title: 'Python', write: python },
  { id: 'json', title: 'JSON', write: ({ job }) => literal(job, inJson) },
];

function hasLinks({ job }: Program): boolean {
  return Object.values(job.tasks).some(({ operation }) => operation === 'export/url');
}

function curl(program: Program): string {
  const { job, url, uploads } = program;
  const lines = [
    '# Takes curl and jq, and an API key in LATHE_API_KEY.',
    `LATHE_URL=${quoted(url)}`,
    `lathe() { curl -sS --fail-with-body -H "Authorization: Bearer $LATHE_API_KEY" -H 'Content-Type: application/json' "$@"; }`,
    '',
    `lathe "$LATHE_URL/v1/process/jobs" --data-binary @- > job.json <<'END'`,
    literal(job, inJson),
    'END',
    'id=$(jq -r .id job.json)',
  ];
  if (uploads.length > 0)
    lines.push(
      '',
      '# Posts a file to the form of its task: every parameter, then the file.',
      'upload() {',
      `  jq -r --arg task "$1" '.tasks[] | select(.name == $task).result.form | "url = \\(.url | @json)",`,
      `    (.parameters | to_entries[] | "form-string = \\("\\(.key)=\\(.value)" | @json)")' job.json |`,
      '    curl -sS --fail-with-body --config - --form "file=@\\"$2\\""',
      '}',
      ...uploads.map(({ task, path }) => `upload ${quoted(task)} ${quoted(path)}`),
    );
  lines.push(
    '',
    'until jq -e .endedAt job.json > /dev/null; do',
    '  lathe "$LATHE_URL/v1/process/jobs/$id/wait" > job.json || break',
    'done',
    `jq -r '.status, (.result.msg // empty)' job.json`,
  );
  if (hasLinks(program))
    lines.push(
      `jq -r '.tasks[] | select(.operation == "export/url").result.files[]?.url' job.json |`,
      '  while read -r link; do curl -sSOJL "$link"; done',
    );
  return lines.join('\n');
}

/** Quotes a word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typescript(program: Program): string {
  const { job, url, uploads } = program;
  const lines = [
    `import { Lathe } from '@lathe-convert/client';`,
    '',
    `const lathe = new Lathe({ url: ${JSON.stringify(url)}, key: process.env.LATHE_API_KEY });`,
    '',
    `const job = await lathe.createJob(${literal(job, inScript)});`,
  ];
  if (uploads.length > 0)
    lines.push(
      '',
      `const files: Record<string, string> = ${literal(pathsOf(uploads), inScript)};`,
      'for (const task of job.tasks ?? []) {',
      '  const path = files[task.name];',
      '  if (path !== undefined) await lathe.upload(task, path);',
      '}',
    );
  lines.push('', 'const { status, result, tasks = [] } = await lathe.wait(job);');
  lines.push("console.log(status, result.msg ?? '');");
  if (hasLinks(program))
    lines.push(
      'for (const task of tasks)',
      "  if (task.operation === 'export/url')",
      '    for (const file of task.result.files ?? []) await lathe.download(file, file.filename);',
    );
  return lines.join('\n');
}

function python(program: Program): string {
  const { job, url, uploads } = program;
  const { tasks, tag, webhook_url } = job;
  const named = Object.entries({ tag, webhook_url }).map(([name, value]) =>
    value === undefined ? '' : `, ${name}=${literal(value, inPython)}`,
  );
  const lines = [
    'from lathe_client import Lathe',
    '',
    `lathe = Lathe(url=${JSON.stringify(url)})  # the key is in LATHE_API_KEY`,
    '',
    `job = lathe.create_job(${literal(tasks, inPython)}${named.join('')})`,
  ];
  if (uploads.length > 0)
    lines.push(
      '',
      `files = ${literal(pathsOf(uploads), inPython)}`,
      'for task in job["tasks"]:',
      '    if task["name"] in files:',
      '        lathe.upload(task, files[task["name"]])',
    );
  lines.push('', 'job = lathe.wait(job)', 'print(job["status"], job["result"].get("msg", ""))');
  if (hasLinks(program))
    lines.push(
      'for task in job["tasks"]:',
      '    if task["operation"] == "export/url":',
      '        for file in task["result"].get("files", []):',
      '            lathe.download(file, file["filename"])',
    );
  return lines.join('\n');
}

function pathsOf(uploads: Program['uploads']): Record<string, Json> {
  return Object.fromEntries(uploads.map(({ task, path }) => [task, path]));
}

/** The literal syntax of a language. */
interface Dialect {
  indent: string;
  /** Follows the last member of an object. */
  last: string;
  key(name: string): string;
  word(value: boolean | null): string;
}

const inJson: Dialect = { indent: '  ', last: '', key: (name) => JSON.stringify(name), word: String };
const inScript: Dialect = {
  ...inJson,
  last: ',',
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
};
const inPython: Dialect = {
  ...inJson,
  indent: '    ',
  last: ',',
  word: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
};

const maxLineLength = 100;

/** Writes a value as a literal. Strings and numbers are written as in JSON; a task that fits takes one line. */
function literal(value: Json, dialect: Dialect, before = ''): string {
  if (value === null || typeof value === 'boolean') return dialect.word(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, dialect, before)).join(', ')}]`;
  const within = before + dialect.indent;
  const members = Object.entries(value).map(
    ([name, each]) => `${dialect.key(name)}: ${literal(each, dialect, within)}`,
  );
  if (members.length === 0) return '{}';
  const line = `{ ${members.join(', ')} }`;
  const isTask = before !== '' && !line.includes('\n') && within.length + line.length < maxLineLength;
  return isTask ? line : `{\n${within}${members.join(`,\n${within}`)}${dialect.last}\n${before}}`;
}
