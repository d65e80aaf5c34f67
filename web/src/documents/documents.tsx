import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { CodeTabs } from '../builder/code-tabs.tsx';
import { draftOf } from '../builder/draft.ts';
import { replaceDraft } from '../builder/state.ts';
import { sizeText } from '../format.ts';
import { percentOf } from '../jobs/summary.ts';
import { useAction } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { go } from '../router.ts';
import { jobOf, moved, turned } from './edits.ts';
import { open, opening, pages, problems, save } from './state.ts';

/** Shows the pages of PDFs to arrange, rotate, delete, split and merge. */
export function Documents() {
  return (
    <div class="stack">
      <div>
        <h1>PDF pages</h1>
        <p class="lead">Arrange, rotate and delete pages of one PDF or several, and split or merge them.</p>
      </div>
      <Chooser />
      {problems.value.map((text) => (
        <Problem key={text} text={text} />
      ))}
      {pages.value.length > 0 && (
        <>
          <Pages />
          <Result />
          <AsCode />
        </>
      )}
    </div>
  );
}

function Chooser() {
  const isOver = useSignal(false);
  const chooser = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => void open([...(files ?? [])]);
  const isSmall = pages.value.length > 0;
  return (
    <section
      class={`drop ${isOver.value ? 'over' : ''} ${isSmall ? 'low' : ''}`}
      aria-label="PDFs to arrange"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      <div class="row">
        <span>Drop PDFs here, or</span>
        <button type="button" class={isSmall ? '' : 'main'} onClick={() => chooser.current?.click()}>
          {isSmall ? 'Add PDFs' : 'Choose PDFs'}
        </button>
      </div>
      <input
        ref={chooser}
        type="file"
        accept=".pdf,application/pdf"
        multiple
        hidden
        aria-label="PDFs"
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
          currentTarget.value = '';
        }}
      />
      <span role="status" class="small quiet">
        {opening.value.length > 0 && `Opening ${opening.value.join(', ')} …`}
      </span>
    </section>
  );
}

function Pages() {
  const dragged = useSignal<number | undefined>(undefined);
  const over = useSignal<number | undefined>(undefined);
  const all = pages.value;
  const change = (next: typeof all) => {
    pages.value = next;
  };
  const move = (from: number, to: number) => change(moved(all, from, to));
  return (
    <ol class="bare pages" aria-label="Pages">
      {all.map((page, index) => {
        const { key, picture, turn, number, source, startsFile } = page;
        const title = `Page ${number} of ${source.name}`;
        return (
          <li
            key={key}
            class={`page ${startsFile && index > 0 ? 'starts' : ''} ${over.value === index ? 'over' : ''}`}
            draggable
            onDragStart={() => {
              dragged.value = index;
            }}
            onDragEnd={() => {
              dragged.value = undefined;
              over.value = undefined;
            }}
            onDragOver={(event) => {
              if (dragged.value === undefined) return;
              event.preventDefault();
              over.value = index;
            }}
            onDrop={(event) => {
              if (dragged.value === undefined) return;
              event.preventDefault();
              event.stopPropagation();
              move(dragged.value, index);
            }}
          >
            <div class="paper">
              <img
                class="page-picture"
                src={picture}
                alt={title}
                draggable={false}
                style={{ transform: `rotate(${turn}deg)` }}
              />
            </div>
            <span class="small quiet">{index + 1}</span>
            <div class="row tools">
              <Tool label={`Move ${title} back`} text="←" isOff={index === 0} onClick={() => move(index, index - 1)} />
              <Tool
                label={`Move ${title} forward`}
                text="→"
                isOff={index === all.length - 1}
                onClick={() => move(index, index + 1)}
              />
              <Tool label={`Rotate ${title}`} text="↻" onClick={() => change(all.with(index, turned(page)))} />
              <Tool label={`Delete ${title}`} text="✕" onClick={() => change(all.toSpliced(index, 1))} />
            </div>
            {index > 0 && (
              <label class="small">
                <input
                  type="checkbox"
                  checked={startsFile}
                  onChange={({ currentTarget }) =>
                    change(all.with(index, { ...page, startsFile: currentTarget.checked }))
                  }
                />{' '}
                New file
              </label>
            )}
          </li>
        );
      })}
    </ol>
  );
}

interface ToolProps {
  label: string;
  text: string;
  isOff?: boolean;
  onClick(): void;
}

function Tool({ label, text, isOff = false, onClick }: ToolProps) {
  return (
    <button type="button" class="plain" aria-label={label} title={label} disabled={isOff} onClick={onClick}>
      {text}
    </button>
  );
}

/** Makes the files, and links to them. */
function Result() {
  const { problem, run } = useAction();
  const percent = useSignal<number | undefined>(undefined);
  const isBusy = useSignal(false);
  const files = useSignal<Awaited<ReturnType<typeof save>>>([]);
  const start = () =>
    run(async () => {
      isBusy.value = true;
      files.value = [];
      try {
        files.value = await save((job) => {
          percent.value = percentOf(job);
        });
      } finally {
        isBusy.value = false;
        percent.value = undefined;
      }
    });
  const count = 1 + pages.value.filter(({ startsFile }, index) => startsFile && index > 0).length;
  return (
    <section class="card stack" aria-label="Result">
      <div class="row apart">
        <span class="quiet">
          {pages.value.length === 1 ? '1 page' : `${pages.value.length} pages`}
          {count > 1 && ` in ${count} files`}
        </span>
        <div class="row">
          <button
            type="button"
            class="plain"
            onClick={() => {
              pages.value = [];
            }}
          >
            Clear
          </button>
          <button type="button" class="main" disabled={isBusy.value} onClick={() => void start()}>
            {isBusy.value ? 'Saving …' : 'Save PDF'}
          </button>
        </div>
      </div>
      {isBusy.value && (
        <progress aria-label="Progress" {...(percent.value === undefined ? {} : { value: percent.value / 100 })} />
      )}
      {problem.value !== '' && <Problem text={problem.value} />}
      {files.value.length > 0 && (
        <ul class="bare" aria-label="Saved files">
          {files.value.map(({ url, filename, size }) => (
            <li key={url}>
              <a href={url} download={filename}>
                {filename}
              </a>{' '}
              <span class="small quiet">{sizeText(size)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Shows the job that makes the files. */
function AsCode() {
  const names = new Map(pages.value.map(({ source: { task, name } }) => [task, name]));
  const draft = draftOf(jobOf(pages.value, { uploads: true }));
  const tasks = draft.tasks.map((task) => ({
    ...task,
    ...(names.has(task.name) ? { fileName: names.get(task.name) ?? '' } : {}),
  }));
  const named = { ...draft, tasks };
  const edit = () => {
    replaceDraft(named);
    go('/builder');
  };
  return (
    <details>
      <summary>Code</summary>
      <div class="stack">
        <CodeTabs draft={named} />
        <div>
          <button type="button" onClick={edit}>
            Open in the builder
          </button>
        </div>
      </div>
    </details>
  );
}
