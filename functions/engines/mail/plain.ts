import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;

const skipped = new Set('head script style template noscript title svg iframe object select textarea'.split(' '));
const blocks = new Set(
  'address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
const spaced = new Set('blockquote h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '));

/** Returns the text of a page as it reads: a line for each block, and the address of each link that its text does not name. */
export function writeText(html: string): string {
  const output: string[] = [];
  // Entered nodes, and texts to add when they are left.
  const pending: (Node | { after: string })[] = [...parse(html).childNodes].reverse();
  let isPre = 0;
  for (let node = pending.pop(); node; node = pending.pop()) {
    if ('after' in node) {
      if (node.after === 'pre') isPre -= 1;
      else output.push(node.after);
      continue;
    }
    if (node.nodeName === '#text' && 'value' in node)
      output.push(isPre > 0 ? node.value : node.value.replaceAll(/[ \t\r\n\f]+/g, ' '));
    if (!('tagName' in node) || skipped.has(node.tagName)) continue;
    const { tagName: name } = node;
    const attribute = (wanted: string) => node.attrs.find((each) => each.name === wanted)?.value ?? '';
    if (name === 'br') output.push('\n');
    else if (name === 'hr') output.push('\n----\n');
    else if (name === 'img') output.push(attribute('alt'));
    else if (name === 'li') output.push('\n- ');
    else if (spaced.has(name)) output.push('\n\n');
    else if (blocks.has(name)) output.push('\n');
    else if (name === 'td' || name === 'th') output.push('\t');
    if (spaced.has(name)) pending.push({ after: '\n\n' });
    else if (blocks.has(name)) pending.push({ after: '\n' });
    if (name === 'pre') {
      isPre += 1;
      pending.push({ after: 'pre' });
    }
    const link = name === 'a' ? attribute('href').trim() : '';
    if (/^https?:/i.test(link) && !textIn(node).includes(link.replace(/\/$/, '')))
      pending.push({ after: ` <${link}>` });
    pending.push(...node.childNodes.toReversed());
  }
  return tidy(output.join(''));
}

function textIn(root: Node): string {
  let text = '';
  const pending: Node[] = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if ('value' in node) text += node.value;
    if ('childNodes' in node) pending.push(...node.childNodes);
  }
  return text.replaceAll(/\s+/g, ' ');
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/[ \u00a0]+/g, ' ')
        .replaceAll(/ ?\t ?/g, '\t')
        .replaceAll(/^[ \t]+|[ \t]+$/g, ''),
    )
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
