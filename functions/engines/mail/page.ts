import { type DefaultTreeAdapterTypes, parse, serialize } from 'parse5';
import { defuseHtml, escaped } from '../document/guards/defuse-html.ts';
import { Inspection } from '../document/guards/inspection.ts';
import { toDataUri } from '../document/guards/pictures.ts';
import { type Attachment, formatDate, type Message, type Picture } from './message.ts';
import { writeText } from './plain.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Browsers stop nesting at about this depth. */
const maxDepth = 400;
/** All pictures that a page shows, each counted as often as it is shown. */
const maxPictureBytes = 150 * 1024 ** 2;

export interface PageContent {
  /** Styles of the messages. */
  styles: string[];
  markup: string;
}

/** Finds pictures of remote hosts. Without it, they are not loaded. */
export type RemotePictures = ReadonlyMap<string, Buffer>;

/** What was found while a message was written. */
export interface PageFindings {
  /** Addresses of pictures that were not loaded. */
  blocked: Set<string>;
  warnings: Set<string>;
}

/**
 * Declarations that no style of a message can override: `all` resets what they have set, and important inline declarations
 * take precedence over all others. A sender could otherwise hide or replace the header block.
 */
const own = (declarations: string) =>
  ['all: initial', ...declarations.split(';')].map((rule) => `${rule.trim()} !important`).join('; ');

/** A part of the block takes its letters from it. */
const part = (declarations: string) => own(`font: inherit; color: inherit; ${declarations}`);

const rootStyle = own('display: block; background: #fff');
const blockStyle = own(
  'display: block; margin: 0 0 14px; padding: 0 0 10px; border-bottom: 1px solid #999; font: 13px/1.45 "Liberation Sans", Arial, "Noto Sans", "Noto Sans CJK JP", sans-serif; color: #222; background: #fff; overflow-wrap: anywhere; break-inside: auto; break-after: avoid; position: relative; z-index: 2147483647',
);
const subjectStyle = part(
  'display: block; font-size: 18px; font-weight: bold; line-height: 1.3; margin: 0 0 8px; unicode-bidi: isolate',
);
const rowStyle = part('display: block; padding-left: 92px; text-indent: -92px');
const labelStyle = part('display: inline-block; width: 92px; text-indent: 0; color: #666');
const valueStyle = part('unicode-bidi: isolate; text-indent: 0');
const noteStyle = part(
  'display: block; margin: 6px 0 0; padding: 5px 8px; background: #f3f0e0; color: #444; font-size: 12px',
);
/** Keeps what a message positions on the page inside its own area. */
const bodyStyle = own(
  'display: block; position: relative; overflow: clip; contain: paint; font: 14px/1.4 "Liberation Sans", Arial, "Noto Sans", sans-serif; color: #000; overflow-wrap: break-word',
);
const plainStyle =
  'white-space: pre-wrap; overflow-wrap: anywhere; font: 12.5px/1.4 "Liberation Mono", "DejaVu Sans Mono", "Noto Sans Mono", "Noto Sans CJK JP", monospace; margin: 0 0 1em';
const quoteStyle = 'border-left: 2px solid #b7c4d6; padding-left: 8px; color: #445; margin: 0';

/** Writes messages as one page that loads nothing. */
export function pageOf(title: string, contents: PageContent[]): string {
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";
  const styles = contents.flatMap((content) => content.styles).map((css) => `<style>${css}</style>`);
  // A page that Word has made names its paper, which would put the message on a new page.
  return `<!doctype html>
<html style='${rootStyle}'><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><title>${escaped(title)}</title>
${styles.join('\n')}<style>* { page: auto !important } @media print { .message + .message { break-before: page !important } } @media screen { html { padding: 16px !important } }</style></head>
<body style='${rootStyle}'>
${contents.map(({ markup }) => markup).join('\n')}
</body></html>
`;
}

/** Writes the header block and the body of a message. Returns the attachments that the body does not show. */
export function writeMessage(
  message: Message,
  remote: RemotePictures,
  findings: PageFindings,
): { content: PageContent; listed: Attachment[] } {
  const shown = new Set<Attachment>();
  const styles: string[] = [];
  const budget = { bytes: maxPictureBytes };
  const parts = message.body.map((block) => {
    if (block.html !== undefined) {
      const body = writeHtml(block.html, message.pictures, remote, findings, shown, budget);
      if (body) {
        styles.push(...body.styles);
        return body.markup;
      }
      findings.warnings.add('The HTML of a message is nested too deeply to be shown, so its text is shown.');
      return writePlain(block.text ?? writeText(block.html));
    }
    if (block.picture) {
      const picture = pictureMarkup(block.picture);
      if (picture) shown.add(block.picture);
      return picture ?? '';
    }
    return writePlain(block.text ?? '');
  });
  const listed = message.attachments.filter((attachment) => !(attachment.isInline && shown.has(attachment)));
  const body = parts.join('\n') || '<div style="color: #777">(The message has no text.)</div>';
  return {
    content: {
      styles,
      markup: `<div class="message" style='${own('display: block')}'>${headerBlock(message, listed)}<div style='${bodyStyle}'>${body}</div></div>`,
    },
    listed,
  };
}

/** Returns the rows of the header block. */
export function headerRows(message: Message, listed: Attachment[]): [label: string, value: string][] {
  const rows: [string, string][] = [
    ['From', message.from.join(', ')],
    ['Sent by', message.sender.join(', ')],
    ['To', message.to.join(', ')],
    ['Cc', message.cc.join(', ')],
    ['Bcc', message.bcc.join(', ')],
    ['Reply to', message.replyTo.join(', ')],
    ['Date', message.date ? formatDate(message.date) : ''],
    ['Attachments', listed.map(describeFile).join(', ')],
  ];
  return rows.filter(([, value]) => value !== '');
}

function describeFile({ name, bytes, message, missing }: Attachment): string {
  return `${name} (${missing ?? (message ? 'message' : formatSize(bytes.length))})`;
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function headerBlock(message: Message, listed: Attachment[]): string {
  const rows = headerRows(message, listed).map(
    ([label, value]) =>
      `<div style='${rowStyle}'><span style='${labelStyle}'>${label}</span><span style='${valueStyle}'>${escaped(withoutBidi(value))}</span></div>`,
  );
  const notes = message.notes.map((note) => `<div style='${noteStyle}'>${escaped(note)}</div>`);
  const subject = escaped(withoutBidi(message.subject)) || '(no subject)';
  return `<div style='${blockStyle}'><div style='${subjectStyle}'>${subject}</div>${rows.join('')}${notes.join('')}</div>\n`;
}

/** Removes characters that reorder a line, by which a name could pass for another. */
export function withoutBidi(text: string): string {
  return text.replaceAll(/\p{Bidi_Control}/gu, '');
}

/** Writes the HTML of a message without anything that loads or runs. Returns undefined if it is nested too deeply. */
function writeHtml(
  html: string,
  pictures: Map<string, Picture>,
  remote: RemotePictures,
  { blocked }: PageFindings,
  shown: Set<Attachment>,
  budget: { bytes: number },
): PageContent | undefined {
  const safe = defuseHtml(html, new Inspection(), {
    elements: { body: '.mail-body', html: '.mail-html' },
    removed: ['page'],
    picture(address) {
      const { bytes, attachment } = findPicture(address.trim(), pictures, remote) ?? {};
      if (bytes && budget.bytes >= bytes.length) {
        budget.bytes -= bytes.length;
        if (attachment) shown.add(attachment);
        return bytes;
      }
      if (/^(?:https?:)?\/\//i.test(address.trim())) blocked.add(address.trim());
      return undefined;
    },
    missing: placeholder,
  });
  const tree = parse(safe);
  if (depthOf(tree) > maxDepth) return undefined;
  const root = tree.childNodes.find(isElement);
  const [head, body] = ['head', 'body'].map((name) =>
    root?.childNodes.filter(isElement).find(({ tagName }) => tagName === name),
  );
  const styles = [...stylesIn(head), ...stylesIn(body)];
  const attributes = body?.attrs ?? [];
  const value = (name: string) => attributes.find((attribute) => attribute.name === name)?.value;
  const colours = [
    ['background-color', value('bgcolor')],
    ['color', value('text')],
  ].flatMap(([property, colour]) => (colour && /^#?\w+$/.test(colour) ? [`${property}: ${colour}`] : []));
  const style = [...colours, value('style') ?? ''].join('; ');
  const names = ['mail-body', value('class') ?? ''].join(' ').trim();
  const direction = value('dir') ?? root?.attrs.find(({ name }) => name === 'dir')?.value;
  const inner = body ? serialize(body) : '';
  return {
    styles,
    markup: `<div class="mail-html"><div class="${escaped(names)}" style="${escaped(style)}"${direction ? ` dir="${escaped(direction)}"` : ''}>${inner}</div></div>`,
  };
}

function findPicture(address: string, pictures: Map<string, Picture>, remote: RemotePictures) {
  const cid = /^cid:(.*)$/is.exec(address)?.[1];
  if (cid !== undefined) {
    const name = decodeName(cid).toLowerCase();
    return pictures.get(name) ?? pictures.get(cid.toLowerCase());
  }
  const known = pictures.get(address.toLowerCase());
  if (known) return known;
  const bytes = remote.get(address);
  return bytes && { bytes, attachment: undefined };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a box of the size of a picture that is not shown. Pictures of a point, which report that a message is read, have none. */
function placeholder(attributes: ReadonlyMap<string, string>): string {
  const size = (name: string) => {
    const [, number, unit] = /^\s*(\d{1,5})(?:px)?\s*(%?)/.exec(attributes.get(name) ?? '') ?? [];
    return number === undefined ? undefined : { number: Number(number), css: `${number}${unit || 'px'}` };
  };
  const [width, height] = [size('width'), size('height')];
  const style = attributes.get('style') ?? '';
  if (
    [width, height].some((side) => side && side.number <= 3) ||
    /(?:^|;)\s*(?:width|height|max-height)\s*:\s*[0-3]px/i.test(style)
  )
    return '';
  const alt = (attributes.get('alt') ?? '').trim().slice(0, 200);
  const sides = [
    ['width', width],
    ['height', height],
  ].flatMap(([name, side]) => (side && typeof side === 'object' ? [`${String(name)}: ${side.css}`] : []));
  const box = `display: inline-block; box-sizing: border-box; max-width: 100%; min-width: 24px; min-height: 20px; border: 1px dashed #aaa; background: #f4f4f4; color: #777; font: 11px/1.3 "Liberation Sans", Arial, sans-serif; overflow: hidden; text-align: center; vertical-align: middle; padding: 2px 4px`;
  return `<span style="${escaped([box, ...sides].join('; '))}">${escaped(alt) || 'Picture'}</span>`;
}

function isElement(node: Node): node is Element {
  return 'tagName' in node;
}

function stylesIn(root: Element | undefined): string[] {
  const found: string[] = [];
  const pending: Element[] = root ? [root] : [];
  for (let element = pending.pop(); element; element = pending.pop()) {
    for (const child of element.childNodes.filter(isElement)) pending.push(child);
    if (element.tagName !== 'style') continue;
    found.unshift(element.childNodes.map((child) => ('value' in child ? child.value : '')).join(''));
    // Moved to the head, where a later message cannot be taken for an earlier one's.
    element.childNodes = [];
  }
  return found;
}

function depthOf(root: DefaultTreeAdapterTypes.Document): number {
  let deepest = 0;
  const pending: [Node, number][] = root.childNodes.map((child) => [child, 1]);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [node, depth] = next;
    deepest = Math.max(deepest, depth);
    if (deepest > maxDepth) return deepest;
    if (isElement(node)) for (const child of node.childNodes) pending.push([child, depth + 1]);
  }
  return deepest;
}

/** Writes plain text with its line breaks, quotations and links. */
function writePlain(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replace(/\n+$/, '').split('\n');
  const output: string[] = [];
  let open = 0;
  for (const line of lines) {
    const marks = /^(?:> ?)*/.exec(line)?.[0] ?? '';
    const depth = Math.min(8, marks.replaceAll(' ', '').length);
    for (; open < depth; open++) output.push(`<div style="${quoteStyle}">`);
    for (; open > depth; open--) output.push('</div>');
    output.push(`${withLinks(line.slice(marks.length))}\n`);
  }
  output.push('</div>'.repeat(open));
  return `<div style='${plainStyle}'>${output.join('')}</div>`;
}

const address = /\bhttps?:\/\/[^\s<>"']{1,2000}[^\s<>"'.,;:!?)\]}]/g;

function withLinks(line: string): string {
  let output = '';
  let from = 0;
  for (const match of line.matchAll(address)) {
    const link = escaped(match[0]);
    output += `${escaped(line.slice(from, match.index))}<a href="${link}">${link}</a>`;
    from = match.index + match[0].length;
  }
  return output + escaped(line.slice(from));
}

function pictureMarkup({ bytes, mediaType, name }: Attachment): string | undefined {
  if (!/^image\/(?:png|jpeg|gif|webp|bmp)$/.test(mediaType)) return undefined;
  return `<div><img style="max-width: 100%" alt="${escaped(name)}" src="${toDataUri(mediaType, bytes)}"></div>`;
}
