import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useAction } from '../parts/load.ts';
import { Problem, SignInFirst } from '../parts/notice.tsx';
import { session } from '../service/session.ts';
import { DropZone } from './drop-zone.tsx';
import { ItemCard } from './item-card.tsx';
import { add, finished, type Item, items, start, waiting, zipOf } from './items.ts';

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
  if (session.value.state === 'out') return <SignInFirst to="to convert files" />;
  return (
    <div class="stack">
      <div>
        <h1>Convert files</h1>
        <p class="lead">
          Images, documents, audio, video and archives. Files are deleted automatically after a few hours.
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

function Together() {
  const isZipping = useSignal(false);
  const { problem, run } = useAction();
  const download = async (all: Item[]) => {
    isZipping.value = true;
    await run(async () => location.assign(await zipOf(all)));
    isZipping.value = false;
  };
  const open = waiting.value;
  const done = finished.value;
  return (
    <div class="stack">
      <div class="row">
        <button
          type="button"
          class="main"
          disabled={open.length === 0}
          onClick={() => void Promise.all(open.map(start))}
        >
          Convert all ({open.length})
        </button>
        <button type="button" disabled={done.length < 2 || isZipping.value} onClick={() => void download(done)}>
          {isZipping.value ? 'Creating ZIP …' : `Download all as ZIP (${done.length})`}
        </button>
      </div>
      {problem.value !== '' && <Problem text={problem.value} />}
    </div>
  );
}
