import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

const { LATHE_URL = 'http://localhost:3000', LATHE_API_KEY = '' } = process.env;

/** Connects to `lathe mcp`, which may read and write the files of one folder. */
async function connectLocally(folder: string): Promise<Client> {
  const client = new Client({ name: 'example-agent', version: '1.0.0' });
  const entry = new URL('../bin/lathe.js', import.meta.resolve('@lathe-convert/client'));
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(entry), 'mcp', '--root', folder],
      env: { LATHE_URL, LATHE_API_KEY },
    }),
  );
  return client;
}

/** Connects to the endpoint of the service, which has no access to local files. */
async function connectRemotely(): Promise<Client> {
  const client = new Client({ name: 'example-agent', version: '1.0.0' });
  const headers = { authorization: `Bearer ${LATHE_API_KEY}` };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', LATHE_URL), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}

/** Calls a tool and returns its JSON. An agent with a model passes errors to the model; this one ends. */
async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  // Progress resets the timeout, so that a long conversion is not given up after a minute.
  const options = { timeout: 60_000, resetTimeoutOnProgress: true, onprogress: () => {} };
  const result = CallToolResultSchema.parse(
    await client.callTool({ name, arguments: args }, CallToolResultSchema, options),
  );
  const text = result.content.find((block) => block.type === 'text')?.text ?? '';
  if (result.isError) throw new Error(`${name}: ${text}`);
  return JSON.parse(text);
}

/** Converts a file in place: the server reads and writes it. */
async function convertLocally(input: string, output: string): Promise<void> {
  const client = await connectLocally(dirname(resolve(input)));
  try {
    await showTools(client);
    const args = { input: resolve(input), to: extname(output).slice(1), output: resolve(output), overwrite: true };
    console.log(JSON.stringify(await call(client, 'convert', args)));
  } finally {
    await client.close();
  }
}

/** Converts a file that the agent has, at a service that cannot read it: uploads it to a form and downloads the link. */
async function convertRemotely(input: string, output: string): Promise<void> {
  const client = await connectRemotely();
  try {
    await showTools(client);
    const created = await call(client, 'create_upload', { to: extname(output).slice(1) });
    const { url, parameters } = created.form as { url: string; parameters: Record<string, string> };
    const form = new FormData();
    for (const [name, value] of Object.entries(parameters)) form.append(name, value);
    form.append('file', await openAsBlob(input), basename(input));
    const uploaded = await fetch(url, { method: 'POST', body: form });
    if (!uploaded.ok) throw new Error(`The upload failed with ${uploaded.status}: ${await uploaded.text()}`);

    let state = await call(client, 'job_status', { job: created.job, wait: true });
    while (state.status !== 'completed' && state.status !== 'failed') {
      await pause(1_000);
      state = await call(client, 'job_status', { job: created.job, wait: true });
    }
    if (state.status === 'failed') throw new Error(`The job failed: ${JSON.stringify(state)}`);
    const [file] = state.files as { url: string; filename: string; size: number }[];
    if (!file) throw new Error('The job has no result.');
    const downloaded = await fetch(file.url);
    if (!downloaded.ok) throw new Error(`The download failed with ${downloaded.status}.`);
    await writeFile(output, new Uint8Array(await downloaded.arrayBuffer()));
    console.log(JSON.stringify({ job: created.job, outputs: [{ path: output, size: file.size }] }));
  } finally {
    await client.close();
  }
}

async function showTools(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  console.log(`Tools: ${tools.map(({ name }) => name).join(', ')}`);
}

const [mode, input, output] = process.argv.slice(2);
if ((mode !== 'stdio' && mode !== 'http') || !input || !output) {
  console.error('Usage: node agent.ts stdio|http <input> <output>');
  process.exit(2);
}
try {
  await (mode === 'stdio' ? convertLocally : convertRemotely)(input, output);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
