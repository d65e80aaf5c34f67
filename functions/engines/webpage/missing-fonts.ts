import { compatibleSubstitutes, replacedFonts } from '../document/office/fonts.ts';
import { activeFonts } from '../runtime/job-fonts.ts';
import { runProgram } from '../runtime/program.ts';
import { warmFolder } from '../runtime/warm-folder.ts';
import type { Place } from './browser.ts';

const maxStacks = 12;
const generic =
  /^(?:serif|sans-serif|monospace|cursive|fantasy|system-ui|ui-.*|math|emoji|fangsong|-apple-system|blinkmacsystemfont|-webkit-.*|initial|inherit)$/;

/** Returns the elements with the distinct lists of fonts of a page's text, whose first font the page has not loaded itself. */
const findStacks = `(() => {
  const loaded = new Set([...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family.replace(/["']/g, '').toLowerCase()));
  const found = new Map();
  const texts = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  for (let count = 0; count < 3000 && found.size < ${maxStacks} && texts.nextNode(); count++) {
    const element = texts.currentNode.parentElement;
    if (!element || texts.currentNode.data.trim() === '' || element.getClientRects().length === 0) continue;
    const stack = getComputedStyle(element).fontFamily;
    const names = stack.split(',').map((name) => name.trim().replace(/^["']|["']$/g, ''));
    if (!names.some((name) => loaded.has(name.toLowerCase())) && !found.has(stack)) found.set(stack, { element, names });
  }
  return [...found.values()];
})()`;

let installed: { fonts: string | undefined; names: Promise<Set<string>> } | undefined;

/** Returns warnings about fonts that a page names and that are neither installed nor loaded, if none that it names was used. */
export async function missingFonts({ session }: Place): Promise<string[]> {
  try {
    const { result } = await session.send('Runtime.evaluate', {
      expression: `globalThis.stacks = ${findStacks}; stacks.map(({ names }) => names)`,
      returnByValue: true,
    });
    const stacks: unknown = result.value;
    if (!Array.isArray(stacks)) return [];
    const replaced: { font: string; used: string }[] = [];
    for (const [index, stack] of stacks.slice(0, maxStacks).entries()) {
      const names = Array.isArray(stack) ? stack.filter((name) => typeof name === 'string') : [];
      const font = names.find((name) => !generic.test(name.toLowerCase()));
      if (font === undefined || names.findIndex((name) => generic.test(name.toLowerCase())) === 0) continue;
      if (await isThere(names)) continue;
      const used = await usedFont(session, index);
      if (used !== undefined && !replaced.some((known) => known.font === font)) replaced.push({ font, used });
    }
    return replacedFonts(replaced);
  } catch {
    // The page is drawn all the same.
    return [];
  }
}

/** Returns whether one of the fonts is installed, or another with its widths. */
async function isThere(names: string[]): Promise<boolean> {
  const fonts = activeFonts();
  if (installed?.fonts !== fonts || !installed) installed = { fonts, names: listFonts() };
  const known = await installed.names;
  return names.some((name) => [name, ...compatibleSubstitutes(name)].some((each) => known.has(each.toLowerCase())));
}

async function listFonts(): Promise<Set<string>> {
  const { stdout } = await runProgram('fc-list', ['--format', '%{family}\n'], { cwd: warmFolder(), timeoutMs: 10_000 });
  return new Set(stdout.split(/[\n,]/).map((name) => name.trim().toLowerCase()));
}

/** Returns the font that draws most letters of an element. */
async function usedFont(session: Place['session'], index: number): Promise<string | undefined> {
  const { result } = await session.send('Runtime.evaluate', { expression: `globalThis.stacks[${index}].element` });
  if (result.objectId === undefined) return undefined;
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  await session.send('DOM.getDocument', { depth: 0 });
  const { nodeId } = await session.send('DOM.requestNode', { objectId: result.objectId });
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
  return fonts.toSorted((one, other) => other.glyphCount - one.glyphCount)[0]?.familyName;
}
