import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ResultFile } from '../service/types.ts';

type Kind = 'image' | 'audio' | 'video' | 'pdf' | 'text' | 'none';

const shown: [Kind, string][] = [
  ['image', 'png jpg jpeg webp gif svg avif bmp ico'],
  ['audio', 'mp3 wav ogg oga opus flac m4a aac'],
  ['video', 'mp4 webm m4v ogv'],
  ['pdf', 'pdf'],
  ['text', 'txt md csv tsv json xml html htm tex rst srt vtt'],
];

const maxTextBytes = 200_000;
const maxFetchedBytes = 50_000_000;

/** Returns how a browser can show a format. */
export function kindOf(format: string): Kind {
  return shown.find(([, formats]) => formats.split(' ').includes(format))?.[0] ?? 'none';
}

/** Shows a result, next to the original if both are images. */
export function Preview({ file, original }: { file: ResultFile; original: string | undefined }) {
  const kind = kindOf(file.format);
  if (kind === 'image' && original !== undefined) return <Comparison before={original} after={file.url} />;
  // Mobile browsers do not embed PDFs.
  if (kind === 'none' || (kind === 'pdf' && !navigator.pdfViewerEnabled)) return null;
  return (
    <div class="preview">
      {kind === 'image' && <img src={file.url} alt={`Preview of ${file.filename}`} />}
      {kind === 'audio' && (
        // biome-ignore lint/a11y/useMediaCaption: user files have no captions
        <audio controls preload="metadata" src={file.url} />
      )}
      {kind === 'video' && (
        // biome-ignore lint/a11y/useMediaCaption: user files have no captions
        <video controls preload="metadata" src={file.url} />
      )}
      {(kind === 'pdf' || kind === 'text') && <Fetched file={file} kind={kind} />}
    </div>
  );
}

/** Shows a copy of the file, because links are downloads only. */
function Fetched({ file, kind }: { file: ResultFile; kind: 'pdf' | 'text' }) {
  const content = useSignal<{ text: string } | { address: string } | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    let address: string | undefined;
    const load = async () => {
      if (file.size > maxFetchedBytes) return;
      const blob = await contentOf(file, kind === 'text' ? maxTextBytes : file.size, stop.signal);
      if (kind === 'text') content.value = { text: await blob.text() };
      else {
        address = URL.createObjectURL(blob.slice(0, blob.size, 'application/pdf'));
        content.value = { address };
      }
    };
    // A result without a preview can still be downloaded.
    load().catch(() => undefined);
    return () => {
      stop.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [file.url]);
  const now = content.value;
  if (!now) return null;
  if ('address' in now) return <iframe src={now.address} title={`Preview of ${file.filename}`} />;
  return (
    <section
      class="text"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      aria-label={`Preview of ${file.filename}`}
    >
      <pre>{now.text}</pre>
    </section>
  );
}

/** Returns the start of a file, from memory or by its link. */
async function contentOf({ content, url }: ResultFile, maxBytes: number, signal: AbortSignal): Promise<Blob> {
  if (content) return content.slice(0, maxBytes);
  const response = await fetch(url, { headers: { range: `bytes=0-${maxBytes - 1}` }, signal });
  if (!response.ok) throw new Error(`The file cannot be read: status ${response.status}.`);
  return response.blob();
}

function Comparison({ before, after }: { before: string; after: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const cut = (percent: string) => frame.current?.style.setProperty('--cut', `${percent}%`);
  return (
    <div class="stack">
      <div class="preview">
        <div class="compare" ref={frame}>
          <img src={before} alt="The original" />
          <img class="after" src={after} alt="The result" />
          <div class="edge" />
        </div>
      </div>
      <div class="compare-row">
        <span>Before</span>
        <input
          type="range"
          min="0"
          max="100"
          value="50"
          aria-label="Share of the original that is shown, in percent"
          onInput={({ currentTarget }) => cut(currentTarget.value)}
        />
        <span>After</span>
      </div>
    </div>
  );
}
