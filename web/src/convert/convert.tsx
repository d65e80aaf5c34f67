import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { wholeText } from '../format.ts';
import { useAction, useLatest } from '../parts/load.ts';
import { Problem, SignInFirst } from '../parts/notice.tsx';
import { session } from '../service/session.ts';
import { DropZone } from './drop-zone.tsx';
import { FormatPicker } from './format-picker.tsx';
import { ItemCard } from './item-card.tsx';
import {
  add,
  addMerged,
  finished,
  type Item,
  items,
  mergedFormats,
  parts,
  setAll,
  start,
  waiting,
  zipOf,
} from './items.ts';

/** Shows the converter. */
export function Convert() {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) add(files.map((file) => ({ file })));
    };
    addEventListener('paste', paste);
    return () => removeEventListener('paste', paste);
  }, []);
  const lifetime = session.value.state === 'in' ? ` after ${wholeText(session.value.me.retention.fileSeconds)}` : '';
  if (session.value.state === 'out') return <SignInFirst to="to convert files" />;
  return (
    <div class="stack">
      <div>
        <h1>Convert files</h1>
        <p class="lead">
          Images, documents, e-books, audio, video and archives. Files are deleted automatically{lifetime}.
        </p>
      </div>
      <DropZone />
      {items.value.length > 1 && <Together />}
      <ul class="stack bare" aria-label="Files">
        {items.value.map((item) => (
          <ItemCard key={item.id} item={item} />
        ))}
      </ul>
    </div>
  );
}

/** Shows what applies to all files. */
function Together() {
  const isZipping = useSignal(false);
  const left = useSignal(0);
  const set = useSignal('');
  const { problem, run } = useAction();
  const download = async (all: Item[]) => {
    isZipping.value = true;
    await run(async () => location.assign(await zipOf(all)));
    isZipping.value = false;
  };
  const open = waiting.value;
  const done = finished.value;
  const formats = [...new Set(open.flatMap(({ source, outputs }) => ('parts' in source ? [] : (outputs.value ?? []))))];
  const kinds = new Set(open.map(({ from }) => from.value));
  const [kind = ''] = kinds;
  const chosen = new Set(open.map(({ to }) => to.value));
  const [common = ''] = chosen;
  return (
    <section class="card stack" aria-label="All files">
      <div class="row">
        <div class="to">
          <label for="to-all">Set all to</label>
          <FormatPicker
            id="to-all"
            formats={formats}
            value={chosen.size === 1 ? common : chosen.has(set.value) ? set.value : ''}
            from={kinds.size === 1 ? kind : ''}
            blank="Choose a format"
            disabled={formats.length === 0}
            onChange={(format) => {
              set.value = format;
              left.value = setAll(format);
            }}
          />
        </div>
        <button
          type="button"
          class="main"
          disabled={open.length === 0}
          onClick={() => void Promise.all(open.map(start))}
        >
          Convert all ({open.length})
        </button>
        <Merge />
        {done.length > 1 && (
          <button type="button" disabled={isZipping.value} onClick={() => void download(done)}>
            {isZipping.value ? 'Creating ZIP …' : `Download all as ZIP (${done.length})`}
          </button>
        )}
        <span role="status" class="small quiet">
          {left.value === 1 && '1 file cannot be converted to this format and keeps its own.'}
          {left.value > 1 && `${left.value} files cannot be converted to this format and keep their own.`}
        </span>
      </div>
      {problem.value !== '' && <Problem text={problem.value} />}
    </section>
  );
}

/** Offers to merge the files into one, if there is a format for that. */
function Merge() {
  const formats = useSignal<string[]>([]);
  const problem = useSignal('');
  const all = parts.value;
  useLatest(
    () => mergedFormats(all),
    (found) => {
      formats.value = found;
    },
    problem,
    [all.map(({ from }) => from.value).join()],
  );
  if (all.length < 2 || formats.value.length === 0) return null;
  const names = [...formats.value].sort((a, b) => Number(b === 'pdf') - Number(a === 'pdf'));
  return (
    <button type="button" onClick={() => addMerged(all, names)}>
      Merge into one {names.map((format) => format.toUpperCase()).join(' or ')}
    </button>
  );
}
