import { sizeText, timeLeftText } from '../format.ts';
import { Disclosure } from '../parts/field.tsx';
import { useSeconds } from '../parts/seconds.ts';
import { FormatPicker } from './format-picker.tsx';
import {
  cancel,
  chooseKind,
  type Item,
  isBusy,
  isConvertible,
  items,
  moveUp,
  type Phase,
  remove,
  start,
} from './items.ts';
import { OptionsForm } from './options-form.tsx';
import { kindOf, Preview } from './preview.tsx';

/** Shows a file from its selection to its result. */
export function ItemCard({ item }: { item: Item }) {
  const size = 'file' in item.source ? item.source.file.size : undefined;
  const phase = item.phase.value;
  const hasStarted = phase === 'done' || isBusy(item);
  const isMerge = 'parts' in item.source;
  const index = items.value.filter(({ source }) => !('parts' in source)).indexOf(item);
  return (
    <li class="card stack">
      <div class="item-head">
        <span class="badge" aria-hidden="true">
          {badgeOf(item)}
        </span>
        <div class="grow">
          <h2 class="name">{item.name}</h2>
          <span class="small quiet">{detailOf(item)}</span>
        </div>
        <FormatChoice item={item} disabled={hasStarted} />
        {(phase === 'ready' || phase === 'failed' || phase === 'canceled') && (
          <button type="button" class="main" disabled={!isConvertible(item)} onClick={() => void start(item)}>
            {phase !== 'ready' ? 'Try again' : isMerge ? 'Merge' : 'Convert'}
          </button>
        )}
        {isBusy(item) && (
          <button type="button" onClick={() => void cancel(item)}>
            Cancel
          </button>
        )}
        {!isMerge && !hasStarted && index > 0 && (
          <button type="button" class="plain" aria-label={`Move ${item.name} up`} onClick={() => moveUp(item)}>
            ↑
          </button>
        )}
        <button type="button" class="plain remove" aria-label={`Remove ${item.name}`} onClick={() => remove(item)}>
          ✕
        </button>
      </div>
      {!hasStarted && 'url' in item.source && <PageChoice item={item} />}
      {!hasStarted && item.to.value !== '' && item.from.value !== '*' && <Options item={item} />}
      {isBusy(item) && <Progress item={item} />}
      {item.problem.value !== '' && (
        <div class="notice bad" role="alert">
          {item.problem.value}
        </div>
      )}
      {phase === 'canceled' && (
        <div class="notice" role="status">
          Canceled.
        </div>
      )}
      {phase === 'done' && <Results item={item} size={size} />}
    </li>
  );
}

function badgeOf({ source, isPage, from }: Item): string {
  if ('parts' in source) return `${source.parts.length} ×`;
  return isPage.value || from.value === '*' ? 'URL' : from.value;
}

function detailOf({ source }: Item): string {
  if ('parts' in source) return source.parts.map(({ name }) => name).join(', ');
  return 'file' in source ? sizeText(source.file.size) : 'from a URL';
}

function FormatChoice({ item, disabled }: { item: Item; disabled: boolean }) {
  const outputs = item.outputs.value;
  const id = `to-${item.id}`;
  const blank = outputs === undefined ? '…' : 'none';
  return (
    <div class="to">
      <label for={id}>to</label>
      <FormatPicker
        id={id}
        formats={outputs ?? []}
        value={item.to.value}
        from={item.from.value}
        blank={blank}
        disabled={disabled || (outputs ?? []).length === 0}
        onChange={(format) => {
          item.to.value = format;
        }}
      />
    </div>
  );
}

/** Asks whether a URL is a file or a web page to render. */
function PageChoice({ item }: { item: Item }) {
  const choices = [
    { isPage: false, title: 'The file at this URL' },
    { isPage: true, title: 'The web page as rendered by a browser' },
  ];
  return (
    <fieldset>
      <legend>What to convert</legend>
      <div class="row">
        {choices.map(({ isPage, title }) => (
          <label key={title} class="check">
            <input
              type="radio"
              name={`page-${item.id}`}
              checked={item.isPage.value === isPage}
              onChange={() => chooseKind(item, isPage)}
            />
            <span>{title}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Options({ item }: { item: Item }) {
  const chosen = Object.keys(item.options.value).length;
  return (
    <Disclosure title={`Options${chosen > 0 ? ` (${chosen})` : ''}`}>
      {(isOpen) =>
        (isOpen || chosen > 0) && (
          <OptionsForm
            id={String(item.id)}
            operation={'parts' in item.source ? 'merge' : 'convert'}
            from={item.from.value}
            to={item.to.value}
            values={item.options.value}
            onChange={(values) => {
              item.options.value = values;
            }}
          />
        )
      }
    </Disclosure>
  );
}

function Progress({ item }: { item: Item }) {
  useSeconds(true);
  const share = item.progress.value;
  const texts: Partial<Record<Phase, string>> = { waiting: 'Starting', uploading: 'Uploading' };
  const action = 'parts' in item.source ? 'Merging into' : 'Converting to';
  const text = texts[item.phase.value] ?? `${action} ${item.to.value.toUpperCase()}`;
  const left = timeLeftText(share, (Date.now() - item.phaseSince) / 1000);
  return (
    <div>
      <div class="row apart small">
        <span role="status">{text} …</span>
        <span class="number quiet">
          {share !== undefined && `${Math.round(share * 100)}%`}
          {left !== '' && ` · ${left}`}
        </span>
      </div>
      <progress aria-label={`${text}: ${item.name}`} {...(share === undefined ? {} : { value: share })} />
    </div>
  );
}

function Results({ item, size }: { item: Item; size: number | undefined }) {
  const files = item.results.value;
  const original = kindOf(item.from.value) === 'image' ? item.original : undefined;
  const [first] = files;
  return (
    <div class="stack">
      <span class="visually-hidden" role="status">
        Converted {item.name}.
      </span>
      {first && files.length === 1 && <Preview file={first} original={original} />}
      {files.map((file) => (
        <div class="row apart" key={file.url}>
          <div class="grow sizes">
            <strong>{file.filename}</strong>
            <span class="number">{sizeText(file.size)}</span>
            {size !== undefined && files.length === 1 && <Change before={size} after={file.size} />}
          </div>
          <a class="button main" href={file.url} download={file.filename}>
            Download
          </a>
        </div>
      ))}
      {first?.content && (
        <div class="small quiet">
          {files.length === 1 ? 'This file is' : 'These files are'} only in this tab and not in Jobs. Download{' '}
          {files.length === 1 ? 'it' : 'them'} before you close or reload the page.
        </div>
      )}
    </div>
  );
}

function Change({ before, after }: { before: number; after: number }) {
  const percent = before > 0 ? Math.round((after / before - 1) * 100) : 0;
  if (percent === 0) return <span class="small quiet">same size</span>;
  if (percent > 900) return <span class="small quiet">{Math.round(after / before)} times the size</span>;
  return percent < 0 ? (
    <span class="small less">{-percent}% smaller</span>
  ) : (
    <span class="small quiet">{percent}% larger</span>
  );
}
