import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import * as z from 'zod';
import { projectRoot } from '../../../../infra/bundling.ts';
import { freePort } from '../../../support/free-port.ts';
import { until } from '../../../support/until.ts';
import { type Check, Missing, type Tools } from '../tools.ts';

const version = '2.41.1';
const installOptions = {
  // Newer versions, which their dependents accept, need packages that mirrors of npm lack.
  overrides: {
    linkedom: '0.18.12',
    '@langchain/langgraph': '1.0.2',
    '@langchain/langgraph-checkpoint': '1.0.0',
  },
  flags: ['--legacy-peer-deps'],
};
const linter = ['@n8n/node-cli@0.48.3', 'n8n-workflow@2.41.0', 'typescript@5.9.3', '@types/node@24'];
const packageName = '@lathe-convert/n8n-nodes-lathe';
const startSeconds = 300;

/** Lints and packs the nodes, and runs workflows with them in n8n. */
export const check: Check = async (tools) => {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-n8n-'));
  try {
    const tarball = pack(tools, join(folder, 'package'));
    const installed = join(folder, '.n8n/nodes/node_modules', packageName);
    mkdirSync(installed, { recursive: true });
    tools.run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
    const program = installN8n(tools);
    const { url, apiKey } = await tools.service();
    await using n8n = await N8n.start(program, folder);
    const credentials = await n8n.addCredentials({ url, apiKey });
    const formats = await n8n.checkCredentials(credentials, { url, apiKey });
    const bytes = await checkConversion(n8n, credentials);
    await checkFailure(n8n, credentials);
    await checkTrigger(n8n, credentials, { url, apiKey });
    return `n8n-node lint without findings; in n8n ${version}: credentials tested, ${formats} output formats listed, a file converted (${bytes} bytes, decoded), a failure continued, a signed event received and a forged one refused, the webhook deleted`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Lints a copy of the package by n8n's command line, and returns its tarball. */
function pack(tools: Tools, folder: string): string {
  const modules = join(tools.npmPackages('n8n-node', linter, installOptions), 'node_modules');
  cpSync(join(projectRoot, 'packages/n8n'), folder, { recursive: true });
  symlinkSync(modules, join(folder, 'node_modules'));
  tools.run(join(modules, '.bin/n8n-node'), ['lint'], { cwd: folder });
  const name = tools.run('npm', ['pack', '--silent'], { cwd: folder }).trim().split('\n').at(-1) ?? '';
  return join(folder, name);
}

/** Installs n8n and compiles its database driver, and returns its program. */
function installN8n(tools: Tools): string {
  const folder = tools.npmPackages('n8n', [`n8n@${version}`], installOptions);
  const driver = join(folder, 'node_modules/sqlite3/build/Release/node_sqlite3.node');
  if (!existsSync(driver)) tools.run('npm', ['rebuild', 'sqlite3'], { cwd: folder });
  if (!existsSync(driver)) throw new Missing('the database driver of n8n cannot be compiled');
  return join(folder, 'node_modules/n8n/bin/n8n');
}

interface Service {
  url: string;
  apiKey: string;
}

interface Credentials {
  id: string;
  name: string;
}

interface Node {
  name: string;
  type: string;
  typeVersion: number;
  parameters: Record<string, unknown>;
  webhookId?: string;
  onError?: string;
  credentials?: Record<string, Credentials>;
}

const created = z.object({ data: z.object({ id: z.string(), versionId: z.string().optional() }) });

/** A running n8n, called as its editor does. */
class N8n implements AsyncDisposable {
  readonly url: string;
  /** The folder that nodes may read and write. */
  readonly files: string;
  readonly #process: ReturnType<typeof spawn>;
  #cookie = '';

  private constructor(url: string, files: string, process: ReturnType<typeof spawn>) {
    this.url = url;
    this.files = files;
    this.#process = process;
  }

  /** Starts n8n with its data in a folder, and registers its owner. */
  static async start(program: string, folder: string): Promise<N8n> {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const files = join(folder, 'files');
    mkdirSync(files);
    const child = spawn(process.execPath, [program, 'start'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: folder,
        N8N_USER_FOLDER: folder,
        N8N_PORT: String(port),
        N8N_RUNNERS_BROKER_PORT: String(await freePort()),
        WEBHOOK_URL: `${url}/`,
        N8N_RESTRICT_FILE_ACCESS_TO: files,
        N8N_BLOCK_FILE_ACCESS_TO_N8N_FILES: 'false',
        N8N_SECURE_COOKIE: 'false',
        N8N_DIAGNOSTICS_ENABLED: 'false',
        N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
        N8N_TEMPLATES_ENABLED: 'false',
      },
    });
    let log = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
    const n8n = new N8n(url, files, child);
    try {
      await until(
        'n8n is ready',
        async () => {
          if (child.exitCode !== null) throw new Error(`n8n ended at its start: ${log}`);
          const response = await fetch(`${url}/healthz/readiness`).catch(() => undefined);
          return response?.ok === true;
        },
        { seconds: startSeconds },
      );
      const owner = { email: 'owner@example.com', firstName: 'Owner', lastName: 'Test', password: 'Password-123' };
      const response = await n8n.#request('POST', '/rest/owner/setup', owner);
      n8n.#cookie = response.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; ');
      return n8n;
    } catch (error) {
      await n8n[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
  }

  async addCredentials(data: Service): Promise<Credentials> {
    const name = 'Lathe';
    const body = created.parse(await this.#json('POST', '/rest/credentials', { name, type: 'latheApi', data }));
    return { id: body.data.id, name };
  }

  /** Tests credentials as the editor does, and returns how many output formats the node offers with them. */
  async checkCredentials(credentials: Credentials, data: Service): Promise<number> {
    const test = (apiKey: string) =>
      this.#json('POST', '/rest/credentials/test', {
        credentials: { ...credentials, type: 'latheApi', data: { ...data, apiKey } },
      });
    assert.match(JSON.stringify(await test(data.apiKey)), /"status":"OK"/);
    assert.match(JSON.stringify(await test('lathe_wrong')), /"status":"Error"/);
    const options = await this.#json('POST', '/rest/dynamic-node-parameters/options', {
      path: 'parameters.outputFormat',
      methodName: 'getOutputFormats',
      nodeTypeAndVersion: { name: `${packageName}.lathe`, version: 1 },
      currentNodeParameters: { resource: 'file', operation: 'convert' },
      credentials: { latheApi: credentials },
    });
    const values = z
      .object({ data: z.array(z.object({ value: z.string() })) })
      .parse(options)
      .data.map(({ value }) => value);
    assert.ok(values.includes('webp') && !values.includes('jpeg'), 'formats without their other names');
    return values.length;
  }

  /** Calls the webhook of a workflow, which n8n registers soon after its activation. */
  call(path: string): Promise<Response> {
    return until(`n8n has registered the webhook ${path}`, async () => {
      const response = await fetch(`${this.url}/webhook/${path}`);
      return response.status === 404 ? undefined : response;
    });
  }

  /** Creates and activates a workflow whose nodes follow each other, and returns its id. */
  async activate(name: string, nodes: Node[]): Promise<string> {
    const links = nodes
      .slice(1)
      .map(({ name: next }, index) => [nodes[index]?.name ?? '', { main: [[{ node: next, type: 'main', index: 0 }]] }]);
    const { data } = created.parse(
      await this.#json('POST', '/rest/workflows', {
        name,
        nodes: nodes.map((node, index) => ({ id: `${name}-${index}`, position: [index * 200, 0], ...node })),
        connections: Object.fromEntries(links),
        settings: { saveDataSuccessExecution: 'all' },
      }),
    );
    await this.#json('POST', `/rest/workflows/${data.id}/activate`, { versionId: data.versionId });
    return data.id;
  }

  async deactivate(id: string): Promise<void> {
    await this.#json('POST', `/rest/workflows/${id}/deactivate`, {});
  }

  /** Returns the executions of a workflow, newest first. */
  async executions(workflowId: string): Promise<Array<{ id: string; status: string }>> {
    const filter = encodeURIComponent(JSON.stringify({ workflowId }));
    const body = await this.#json('GET', `/rest/executions?filter=${filter}`);
    const listed = z.object({ id: z.coerce.string(), status: z.string() });
    return z.object({ data: z.object({ results: z.array(listed) }) }).parse(body).data.results;
  }

  /** Returns the data of an execution, as n8n stores it. */
  async execution(id: string): Promise<string> {
    return JSON.stringify(await this.#json('GET', `/rest/executions/${id}`));
  }

  async #json(method: string, path: string, body?: unknown): Promise<unknown> {
    return (await this.#request(method, path, body)).json();
  }

  async #request(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { cookie: this.#cookie, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} failed: ${response.status} ${await response.text()}`);
    return response;
  }
}

const webhook = (path: string): Node => ({
  name: 'Webhook',
  type: 'n8n-nodes-base.webhook',
  typeVersion: 2,
  webhookId: path,
  parameters: { path, responseMode: 'lastNode' },
});

const read = (path: string): Node => ({
  name: 'Read',
  type: 'n8n-nodes-base.readWriteFile',
  typeVersion: 1,
  parameters: { operation: 'read', fileSelector: path },
});

const convert = (credentials: Credentials): Node => ({
  name: 'Lathe',
  type: `${packageName}.lathe`,
  typeVersion: 1,
  credentials: { latheApi: credentials },
  parameters: { outputFormat: 'webp', conversionOptions: '{ "quality": 60 }' },
});

/** Converts a picture from disk to disk, and returns the size of the result. */
async function checkConversion(n8n: N8n, credentials: Credentials): Promise<number> {
  const [source, target] = [join(n8n.files, 'in.png'), join(n8n.files, 'out.webp')];
  await sharp({ create: { width: 321, height: 123, channels: 3, background: '#369' } })
    .png()
    .toFile(source);
  const write: Node = {
    name: 'Write',
    type: 'n8n-nodes-base.readWriteFile',
    typeVersion: 1,
    parameters: { operation: 'write', fileName: target, dataPropertyName: 'data' },
  };
  await n8n.activate('convert', [webhook('convert'), read(source), convert(credentials), write]);
  const response = await n8n.call('convert');
  assert.equal(response.status, 200, await response.text());
  const content = readFileSync(target);
  const { format, width, height } = await sharp(content).metadata();
  assert.deepEqual({ format, width, height }, { format: 'webp', width: 321, height: 123 });
  return content.length;
}

async function checkFailure(n8n: N8n, credentials: Credentials): Promise<void> {
  const source = join(n8n.files, 'broken.png');
  writeFileSync(source, 'not a picture');
  const lathe: Node = { ...convert(credentials), onError: 'continueRegularOutput' };
  await n8n.activate('failing', [webhook('failing'), read(source), lathe]);
  const response = await n8n.call('failing');
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(text, /"error":"The file \\"broken[.]png\\" could not be read as png/);
}

const registered = z.object({ docs: z.array(z.object({ url: z.string() })) });

async function checkTrigger(n8n: N8n, credentials: Credentials, { url, apiKey }: Service): Promise<void> {
  const call = async (path: string, body?: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, request);
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
  };
  const trigger: Node = {
    name: 'Lathe Trigger',
    type: `${packageName}.latheTrigger`,
    typeVersion: 1,
    webhookId: 'lathe-events',
    credentials: { latheApi: credentials },
    parameters: { events: ['job.completed'] },
  };
  const next: Node = { name: 'Next', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} };
  const id = await n8n.activate('trigger', [trigger, next]);
  const receivers = async () =>
    registered.parse(await call('/v1/account/webhooks')).docs.filter((doc) => doc.url.startsWith(n8n.url));
  const receiver = await until('the webhook is registered on activation', async () => (await receivers())[0]);

  const note = { operation: 'import/base64', filename: 'note.txt', file: 'data:text/plain;base64,aGVsbG8=' };
  const job = z.object({ id: z.string() }).parse(await call('/v1/process/jobs', { tasks: { note } }));
  const execution = await until('the event starts the workflow', async () =>
    (await n8n.executions(id)).find(({ status }) => status === 'success'),
  );
  const data = await n8n.execution(execution.id);
  assert.ok(data.includes(job.id) && data.includes('job.completed'), 'the event of the job');

  const forged = await fetch(receiver.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_forged',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    },
    body: JSON.stringify({ type: 'job.completed', data: { id: job.id } }),
  });
  assert.equal(forged.status, 401);
  assert.equal((await n8n.executions(id)).length, 1, 'a forged event starts nothing');
  await n8n.deactivate(id);
  await until('the webhook is deleted on deactivation', async () => (await receivers()).length === 0);
}
