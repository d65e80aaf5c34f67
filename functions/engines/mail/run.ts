import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stemOf, withExtension } from '../../../shared/files/names.ts';
import { type Engine, EngineError, type InputFile, type Work } from '../runtime/engine.ts';
import { justifiedSeconds } from '../runtime/justified-time.ts';
import { checkFileCount, Outputs } from '../runtime/outputs.ts';
import { pageSuffix } from '../runtime/pages.ts';
import type { Workspace } from '../runtime/pdf-file.ts';
import { keepOffline } from '../runtime/program.ts';
import { settlePages, warmBrowser } from '../webpage/browser.ts';
import { composeMessage, Drawing, notLoaded } from './draw.ts';
import { checkIsMessage, readEml } from './eml.ts';
import { splitMbox, threadsOf } from './mbox.ts';
import type { Message } from './message.ts';
import { readMsg } from './msg.ts';
import { type PageContent, pageOf } from './page.ts';
import { jsonOf, plainOf } from './plain-outputs.ts';
import { pagesOfRtf } from './rich-text.ts';

const maxBytes = 500 * 1024 ** 2;
/** Each takes a few tenths of a second. */
const maxDrawn = 1_000;

keepOffline();
// The browser starts while the first input is still being fetched.
warmBrowser();

/** Converts mail. */
export const engine: Engine = {
  async run(work, context) {
    const outputs = new Outputs(work);
    const warnings = new Set<string>();
    for (const [index, input] of work.inputs.entries()) {
      const folder = join(work.folder, `mail-${index}`);
      await mkdir(folder);
      context.limitProcessorTime(justifiedSeconds({ bytes: input.size }));
      const files = await filesOf(work, input);
      checkFileCount(files.length, 'Set one_file_per to mailbox.');
      checkDrawn(work, files);
      for (const [number, { messages, suffix }] of files.entries()) {
        const progress = (percent: number) =>
          context.progress(((index + (number + percent / 100) / files.length) / work.inputs.length) * 100);
        const own = join(folder, String(number));
        await mkdir(own);
        const path = join(own, `output.${work.outputFormat}`);
        await convert(
          work,
          { messages, name: stemOf(input.name) },
          path,
          { ...context, folder: own, progress },
          warnings,
        );
        await outputs.add({
          path,
          name: withExtension(input.name, work.outputFormat, suffix),
          format: work.outputFormat,
        });
      }
    }
    return { outputs: outputs.files, ...(warnings.size > 0 ? { warnings: [...warnings] } : {}) };
  },
  settle: settlePages,
};

/** The messages of one output. */
interface MailFile {
  messages: Message[];
  /** Added to the name of the input if there are several. */
  suffix?: string;
}

/** Reads an input, and returns the messages of each output. */
async function filesOf({ options }: Work, input: InputFile): Promise<MailFile[]> {
  const { size } = await stat(input.path);
  if (size === 0) throw new EngineError('The file is empty.');
  if (size > maxBytes) throw new EngineError(`The file is larger than ${maxBytes / 1024 ** 2} MB.`);
  const bytes = await readFile(input.path);
  if (input.format === 'msg') return [{ messages: [await readMsg(bytes)] }];
  if (input.format === 'eml') {
    checkIsMessage(bytes);
    return [{ messages: [await readEml(bytes)] }];
  }
  const messages: Message[] = [];
  for (const message of splitMbox(bytes)) messages.push(await readEml(message));
  const threads = threadsOf(messages);
  const { one_file_per: unit } = options;
  const groups =
    unit === 'message' ? threads.flat().map((message) => [message]) : unit === 'thread' ? threads : [threads.flat()];
  return groups.map((group, index) =>
    groups.length === 1 ? { messages: group } : { messages: group, suffix: suffixOf(group, index + 1, groups.length) },
  );
}

function suffixOf([first]: Message[], number: number, count: number): string {
  return `${pageSuffix(number, count)} ${first?.subject.replaceAll(/[./\\]/g, '_').slice(0, 60) ?? ''}`.trim();
}

function checkDrawn({ outputFormat }: Work, files: MailFile[]): void {
  const count = files.reduce((sum, { messages }) => sum + messages.length, 0);
  if (outputFormat === 'pdf' && count > maxDrawn)
    throw new EngineError(
      `The mailbox has ${count.toLocaleString('en')} messages; the maximum for pdf is ${maxDrawn.toLocaleString('en')}. Split it, or choose html or txt.`,
    );
}

async function convert(
  { options, outputFormat }: Work,
  { messages, name }: { messages: Message[]; name: string },
  path: string,
  context: Workspace,
  warnings: Set<string>,
): Promise<void> {
  const [first] = messages;
  const title = (messages.length === 1 && first?.subject) || name;
  if (outputFormat === 'txt' || outputFormat === 'json') {
    for (const message of messages) await pagesOfRtf(message, true, context.folder, warnings);
    const text = outputFormat === 'json' ? jsonOf(messages) : messages.map(plainOf).join(`\n${'-'.repeat(72)}\n\n`);
    return writeFile(path, text);
  }
  if (outputFormat === 'html') {
    const contents: PageContent[] = [];
    let blocked = 0;
    for (const message of messages) {
      const composed = await composeMessage(message, options, context, warnings);
      contents.push(composed.content);
      blocked += composed.blocked;
    }
    if (blocked > 0) warnings.add(notLoaded(blocked, options));
    return writeFile(path, pageOf(title, contents));
  }
  const drawing = new Drawing(options, context, warnings);
  for (const [index, message] of messages.entries()) {
    await drawing.add(message, message.subject || title);
    context.progress((index / messages.length) * 95);
  }
  await drawing.finish(path);
}
