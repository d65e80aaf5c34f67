import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import * as z from 'zod';
import { projectRoot } from '../../../../infra/bundling.ts';
import type { RunningService } from '../../../support/running-stack.ts';
import type { Check, Tools } from '../tools.ts';

const action = join(projectRoot, 'packages/action');
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** Names that would be commands, or change the outputs, if they were printed as they are. */
const hostileNames = ['x\n::set-output name=count::999\n.png', '::error::y.png', '##[add-mask]z,a:%0A|<b>.png'];

const resultsSchema = z.array(z.object({ input: z.string(), output: z.string(), bytes: z.number() }));

/** Lints the action and its example, and runs it as a runner does. */
export const check: Check = async (tools) => {
  const workspace = mkdtempSync(join(tmpdir(), 'lathe-action-'));
  try {
    lint(tools, workspace);
    const service = await tools.service();
    await writePictures(workspace);
    const strict = run(workspace, service, { files: '**/*.png\n!photos/drafts/**', to: 'webp', output: 'out' });
    const converted = await checkRun(strict, workspace);
    assert.equal(strict.status, 1, 'a broken file fails the step');
    checkLenient(run(workspace, service, { files: 'photos/*.png', to: 'jpg', 'fail-on-error': 'false' }));
    checkJob(run(workspace, service, { files: 'large.bmp', to: 'jpg' }), workspace);
    const refused = [
      run(workspace, service, { files: 'nothing/*.png', to: 'webp' }),
      run(workspace, service, { files: 'photos/*.png' }),
      run(workspace, service, { files: 'photos/*.png', to: 'webp', output: '../elsewhere' }),
      run(workspace, service, { files: 'photos/*.png', to: 'webp', options: '{"quality":' }),
      run(workspace, { url: service.url, apiKey: 'lathe_wrong' }, { files: 'photos/a.png', to: 'webp' }),
    ];
    for (const { status, stdout } of refused) {
      assert.equal(status, 1);
      assert.match(stdout, /^::error (?:file=[^:]+,)?title=Lathe::/m);
    }
    return `actionlint without findings; ${converted} pictures converted, ${hostileNames.length} of them with hostile names, a broken file and a link reported, one file by a job, ${refused.length} mistakes refused`;
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
};

/** Checks the example of the README, with the action of this checkout, and that a wrong input is found. */
function lint(tools: Tools, folder: string): void {
  const bin = join(projectRoot, 'node_modules/.cache/integrations/actionlint');
  const program = join(bin, 'actionlint');
  if (!existsSync(program)) tools.run('go', ['install', actionlint], { env: { ...process.env, GOBIN: bin } });
  const repository = join(folder, 'repository');
  const workflow = join(repository, '.github/workflows/example.yml');
  mkdirSync(join(workflow, '..'), { recursive: true });
  cpSync(action, join(repository, 'packages/action'), { recursive: true });
  tools.run('git', ['init', '--quiet', repository]);
  const example = /```yaml\n(.*?)```/s.exec(readFileSync(join(action, 'README.md'), 'utf8'))?.[1] ?? '';
  const local = example.replace('OWNER/lathe/packages/action@v1', './packages/action');
  assert.notEqual(local, example, 'the example uses the action');
  writeFileSync(workflow, local);
  tools.run(program, ['-color=false'], { cwd: repository });
  writeFileSync(workflow, local.replace('to: webp', 'format: webp'));
  const { status, stdout } = spawnSync(program, ['-color=false'], { cwd: repository, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stdout, /input "format" is not defined in action "Lathe"/);
  rmSync(repository, { recursive: true });
}

async function writePictures(workspace: string): Promise<void> {
  const picture = (width: number) => sharp({ create: { width, height: 20, channels: 3, background: '#c33' } }).png();
  mkdirSync(join(workspace, 'photos/drafts'), { recursive: true });
  for (const [index, name] of ['a.png', 'b.png', 'drafts/c.png', ...hostileNames].entries())
    writeFileSync(join(workspace, 'photos', name), await picture(index + 10).toBuffer());
  writeFileSync(join(workspace, 'photos/broken.png'), 'not a picture');
  symlinkSync('/etc/hostname', join(workspace, 'photos/link.png'));
  writeFileSync(join(workspace, 'large.bmp'), largeBitmap());
}

/** Returns a bitmap that is too large for an instant request. */
function largeBitmap(): Buffer {
  const [width, height] = [1500, 1100];
  const bitmap = Buffer.alloc(54 + width * height * 3, 0x80);
  bitmap.fill(0, 0, 54);
  bitmap.write('BM');
  bitmap.writeUInt32LE(bitmap.length, 2);
  bitmap.writeUInt32LE(54, 10);
  bitmap.writeUInt32LE(40, 14);
  bitmap.writeInt32LE(width, 18);
  bitmap.writeInt32LE(height, 22);
  bitmap.writeUInt16LE(1, 26);
  bitmap.writeUInt16LE(24, 28);
  return bitmap;
}

interface Run {
  status: number | null;
  stdout: string;
  outputs: Record<string, string>;
  summary: string;
}

/** Runs the entry of the action like the runner: inputs in the environment, outputs and summary in files. */
function run(
  workspace: string,
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  inputs: Record<string, string>,
): Run {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-runner-'));
  const files = { GITHUB_OUTPUT: join(folder, 'output'), GITHUB_STEP_SUMMARY: join(folder, 'summary') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const given = Object.entries({ url, key: apiKey, ...inputs });
  const { status, stdout } = spawnSync(process.execPath, [join(action, 'main.mjs')], {
    cwd: workspace,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      GITHUB_WORKSPACE: workspace,
      ...files,
      ...Object.fromEntries(given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
    },
  });
  const outputs = outputsIn(readFileSync(files.GITHUB_OUTPUT, 'utf8'));
  const summary = readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8');
  rmSync(folder, { recursive: true });
  return { status, stdout, outputs, summary };
}

/** Parses the file of outputs, as the runner does. */
function outputsIn(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length - 1; at++) {
    const [, name = '', delimiter = ''] = /^([\w-]+)<<(.+)$/.exec(lines[at] ?? '') ?? [];
    const end = lines.indexOf(delimiter, at + 1);
    assert.ok(name !== '' && end > at, `an output in ${lines[at]}`);
    outputs[name] = lines.slice(at + 1, end).join('\n');
    at = end;
  }
  return outputs;
}

async function checkRun({ stdout, outputs, summary }: Run, workspace: string): Promise<number> {
  const results = resultsSchema.parse(JSON.parse(outputs.files ?? ''));
  const names = ['a.png', 'b.png', ...hostileNames].map((name) => `photos/${name}`);
  assert.deepEqual(results.map(({ input }) => input).toSorted(), names.toSorted());
  assert.equal(outputs.count, String(names.length));
  assert.equal(outputs.failed, '2');
  for (const { input, output, bytes } of results) {
    const content = readFileSync(join(workspace, output));
    assert.equal(content.length, bytes);
    const original = await sharp(readFileSync(join(workspace, input))).metadata();
    const { format, width } = await sharp(content).metadata();
    assert.deepEqual({ format, width }, { format: 'webp', width: original.width });
  }
  const commands = stdout.split('\n').flatMap((line) => /^\s*::([\w-]+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(commands, ['add-mask', 'group', 'endgroup', 'error', 'error']);
  assert.match(stdout, /^::error file=photos\/broken[.]png,title=Lathe::The file "broken[.]png" could not be read/m);
  assert.match(stdout, /^::error file=photos\/link[.]png,title=Lathe::The file is outside of the workspace/m);
  assert.ok(!stdout.includes('##['), 'no command of the first syntax');
  assert.equal(summary.match(/^\| .* \|$/gm)?.length, names.length + 4, 'a row for each file');
  assert.ok(!summary.includes('<b>') && !summary.includes('::'), 'no markup of names');
  return names.length;
}

function checkLenient({ status, outputs }: Run): void {
  assert.equal(status, 0, 'a broken file does not fail the step');
  assert.deepEqual([outputs.count, outputs.failed], [String(2 + hostileNames.length), '2']);
}

function checkJob({ status, stdout, outputs }: Run, workspace: string): void {
  assert.equal(status, 0, stdout);
  const [result] = resultsSchema.parse(JSON.parse(outputs.files ?? ''));
  assert.equal(result?.output, 'converted/large.jpg');
  assert.ok(
    readFileSync(join(workspace, 'converted/large.jpg'))
      .subarray(0, 3)
      .equals(Buffer.from([0xff, 0xd8, 0xff])),
  );
}
