import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

/** What the evaluator of opendataloader-bench measures, each from 0 to 1; undefined if the document has nothing of it. */
export interface Scores {
  /** Normalised indel similarity of the whole text (NID). */
  order: number;
  /** Similarity of the tree of headings (MHS). */
  headings: number | undefined;
  /** Tree edit distance based similarity (TEDS) of the tables, in order. One that is missing, or no table, counts 0. */
  tables: number | undefined;
  /** Tables where the document has none. */
  falseTables: number;
}

/** Compares Markdown with that of the true structure. */
export function scoresOf(truth: string, given: string): Scores {
  const [expected, received] = [withHtmlTables(truth), withHtmlTables(given)];
  const [wanted, found] = [tablesOf(expected), tablesOf(received)];
  return {
    order: indelSimilarity(flat(expected), flat(received)),
    headings: headingScore(expected, received),
    tables: wanted.length === 0 ? undefined : aligned(wanted, found) / Math.max(wanted.length, found.length),
    falseTables: Math.max(0, found.length - wanted.length),
  };
}

export interface Tree {
  label: string;
  text: string;
  children: Tree[];
}

/** Replaces tables of Markdown by those of HTML, without comments. */
function withHtmlTables(markdown: string): string {
  const lines = markdown.replaceAll(/<!--.*?-->/gs, '').split('\n');
  const result: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const isTable = lines[at]?.startsWith('|') && /^\|(?:\s*:?-+:?\s*\|)+$/.test(lines[at + 1] ?? '');
    if (!isTable) {
      result.push(lines[at] ?? '');
      continue;
    }
    const rows = [cellsOf(lines[at] ?? '')];
    for (at += 2; lines[at]?.startsWith('|'); at++) rows.push(cellsOf(lines[at] ?? ''));
    at -= 1;
    result.push(
      `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`,
    );
  }
  return result.join('\n');
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function tablesOf(markdown: string): Tree[] {
  return [...markdown.matchAll(/<table>.*?<\/table>/gs)].map(([html]) => {
    const rows: Tree[] = [];
    const visit = (node: DefaultTreeAdapterTypes.Node) => {
      if ('tagName' in node && node.tagName === 'tr')
        rows.push({ label: 'tr', text: '', children: node.childNodes.flatMap(cellOf) });
      else if ('childNodes' in node) for (const child of node.childNodes) visit(child);
    };
    visit(parseFragment(html));
    return { label: 'table', text: '', children: rows };
  });
}

function cellOf(node: DefaultTreeAdapterTypes.Node): Tree[] {
  if (!('tagName' in node) || (node.tagName !== 'td' && node.tagName !== 'th')) return [];
  const span = (name: string) => node.attrs.find((attribute) => attribute.name === name)?.value ?? '1';
  return [{ label: `td ${span('colspan')} ${span('rowspan')}`, text: flat(textOf(node)), children: [] }];
}

function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value;
  if (node.nodeName === 'br') return ' ';
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

/** Returns the greatest sum of similarities of tables that are paired in order. */
function aligned(wanted: Tree[], found: Tree[]): number {
  let best = Array.from({ length: found.length + 1 }, () => 0);
  for (const table of wanted) {
    const next = [0];
    for (const [index, other] of found.entries())
      next.push(Math.max(next[index] ?? 0, best[index + 1] ?? 0, (best[index] ?? 0) + treeSimilarity(table, other)));
    best = next;
  }
  return best.at(-1) ?? 0;
}

function headingScore(expected: string, received: string): number | undefined {
  const [wanted, found] = [outlineOf(expected), outlineOf(received)];
  const hasHeadings = (tree: Tree) => tree.children.some(({ label }) => label === 'heading');
  if (!hasHeadings(wanted)) return undefined;
  return hasHeadings(found) ? Math.max(0, treeSimilarity(wanted, found)) : 0;
}

/** Returns headings of any level, each with the text below it. */
function outlineOf(markdown: string): Tree {
  const root: Tree = { label: 'document', text: '', children: [] };
  let current = root;
  let pending = '';
  const flush = () => {
    if (pending !== '') current.children.push({ label: 'content', text: pending, children: [] });
    pending = '';
  };
  for (const line of markdown.split('\n')) {
    const text = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    if (text === undefined) {
      pending = flat(`${pending} ${line}`);
      continue;
    }
    flush();
    current = { label: 'heading', text: flat(text), children: [] };
    root.children.push(current);
  }
  flush();
  return root;
}

/** Returns 1 less the edit distance of two trees (Zhang and Shasha), in relation to the nodes of the larger one. */
export function treeSimilarity(one: Tree, other: Tree): number {
  const [left, right] = [postOrder(one), postOrder(other)];
  const [rows, columns] = [left.nodes.length, right.nodes.length];
  const distances = Array.from({ length: rows }, () => new Float64Array(columns));
  const at = (i: number, j: number) => distances[i]?.[j] ?? 0;
  for (const i of left.roots)
    for (const j of right.roots) {
      const [firstI, firstJ] = [left.leaves[i] ?? 0, right.leaves[j] ?? 0];
      const wide = j - firstJ + 2;
      const forest = new Float64Array((i - firstI + 2) * wide);
      for (let y = 0; y <= i - firstI + 1; y++)
        for (let x = 0; x < wide; x++) {
          if (y === 0 || x === 0) {
            forest[y * wide + x] = x + y;
            continue;
          }
          const [nodeI, nodeJ] = [firstI + y - 1, firstJ + x - 1];
          const [leafI, leafJ] = [left.leaves[nodeI] ?? 0, right.leaves[nodeJ] ?? 0];
          const isTree = leafI === firstI && leafJ === firstJ;
          const matched = isTree
            ? (forest[(y - 1) * wide + x - 1] ?? 0) + renaming(left.nodes[nodeI], right.nodes[nodeJ])
            : (forest[(leafI - firstI) * wide + leafJ - firstJ] ?? 0) + at(nodeI, nodeJ);
          const least = Math.min((forest[(y - 1) * wide + x] ?? 0) + 1, (forest[y * wide + x - 1] ?? 0) + 1, matched);
          forest[y * wide + x] = least;
          const line = distances[nodeI];
          if (isTree && line) line[nodeJ] = least;
        }
    }
  return 1 - at(rows - 1, columns - 1) / Math.max(rows, columns);
}

/** Returns the nodes of a tree with the first leaf below each, and the nodes that have a sibling to their left. */
function postOrder(tree: Tree): { nodes: Tree[]; leaves: number[]; roots: number[] } {
  const nodes: Tree[] = [];
  const leaves: number[] = [];
  const visit = (node: Tree): number => {
    const [first] = node.children.map(visit);
    const leaf = first ?? nodes.length;
    nodes.push(node);
    leaves.push(leaf);
    return leaf;
  };
  visit(tree);
  return {
    nodes,
    leaves,
    roots: [...new Map(leaves.map((leaf, index) => [leaf, index])).values()].sort((a, b) => a - b),
  };
}

function renaming(one: Tree | undefined, other: Tree | undefined): number {
  if (!one || !other || one.label !== other.label) return 1;
  const longest = Math.max(one.text.length, other.text.length);
  return one.text === other.text ? 0 : levenshtein(one.text, other.text) / longest;
}

function levenshtein(one: string, other: string): number {
  let line = Uint32Array.from({ length: other.length + 1 }, (_, index) => index);
  let next = new Uint32Array(other.length + 1);
  for (let y = 0; y < one.length; y++) {
    const letter = one.charCodeAt(y);
    next[0] = y + 1;
    for (let x = 0; x < other.length; x++) {
      const kept = (line[x] ?? 0) + (letter === other.charCodeAt(x) ? 0 : 1);
      const changed = Math.min(next[x] ?? 0, line[x + 1] ?? 0) + 1;
      next[x + 1] = Math.min(kept, changed);
    }
    [line, next] = [next, line];
  }
  return line.at(-1) ?? 0;
}

/** Returns twice the length of the longest common subsequence, in relation to both lengths. */
function indelSimilarity(one: string, other: string): number {
  let line = new Uint32Array(other.length + 1);
  let next = new Uint32Array(other.length + 1);
  for (let y = 0; y < one.length; y++) {
    const letter = one.charCodeAt(y);
    for (let x = 0; x < other.length; x++)
      next[x + 1] = letter === other.charCodeAt(x) ? (line[x] ?? 0) + 1 : Math.max(next[x] ?? 0, line[x + 1] ?? 0);
    [line, next] = [next, line];
  }
  return one.length + other.length === 0 ? 1 : (2 * (line.at(-1) ?? 0)) / (one.length + other.length);
}
