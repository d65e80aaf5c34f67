import { useSignal } from '@preact/signals';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { aliasesOf, type FormatGroup, groupFormats, searchFormats, usualOutputs } from './formats.ts';

interface Props {
  id: string;
  formats: string[];
  value: string;
  /** Input format, whose usual output formats are shown first. */
  from?: string;
  /** Shown if no format is chosen. If the user may choose it, it also is the first option. */
  blank: string;
  isBlankChoosable?: boolean;
  disabled?: boolean;
  'aria-label'?: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
  onChange(format: string): void;
}

/** Shows the chosen format as a button that opens a searchable list of formats in groups. */
export function FormatPicker({ formats, value, from, blank, isBlankChoosable, onChange, ...attributes }: Props) {
  const isOpen = useSignal(false);
  const typed = useSignal('');
  const button = useRef<HTMLButtonElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const close = () => {
    isOpen.value = false;
    button.current?.focus();
  };
  const open = (text = '') => {
    typed.value = text;
    isOpen.value = true;
  };
  return (
    <div
      class="picker"
      ref={place}
      onFocusOut={({ relatedTarget }) => {
        // Clicks on parts that take no focus do not move it.
        if (relatedTarget instanceof Node && !place.current?.contains(relatedTarget)) isOpen.value = false;
      }}
    >
      <button
        {...attributes}
        ref={button}
        type="button"
        class="format"
        role="combobox"
        aria-haspopup="dialog"
        aria-expanded={isOpen.value}
        aria-controls={`${attributes.id}-formats`}
        value={value}
        onClick={() => (isOpen.value ? close() : open())}
        onKeyDown={(event) => {
          const { key, ctrlKey, metaKey, altKey } = event;
          if (key === 'ArrowDown' || key === 'ArrowUp') open();
          else if (/^[a-z0-9]$/i.test(key) && !ctrlKey && !metaKey && !altKey) open(key);
          else return;
          event.preventDefault();
        }}
      >
        {value === '' ? blank : value.toUpperCase()}
      </button>
      {isOpen.value && (
        <List
          id={`${attributes.id}-formats`}
          groups={groupsOf(formats, value, from)}
          value={value}
          typed={typed.value}
          blank={isBlankChoosable ? blank : undefined}
          onClose={close}
          onChoose={(format) => {
            onChange(format);
            close();
          }}
        />
      )}
    </div>
  );
}

/** Groups formats, with the usual ones first. Also lists a chosen format that the service does not have. */
function groupsOf(formats: string[], value: string, from: string | undefined): FormatGroup[] {
  const usual = from === undefined ? [] : usualOutputs(from, formats);
  const groups = groupFormats(value === '' || formats.includes(value) ? formats : [...formats, value], from);
  // A short list needs no second copy of its formats.
  return usual.length > 1 && formats.length > 12 ? [{ title: 'Usual', formats: usual }, ...groups] : groups;
}

interface ListProps {
  id: string;
  groups: FormatGroup[];
  value: string;
  /** What was typed to open the list. */
  typed: string;
  blank: string | undefined;
  onChoose(format: string): void;
  onClose(): void;
}

/** Shows the open list. The focus stays in the search field, which names the active option. */
function List({ id, groups, value, typed, blank, onChoose, onClose }: ListProps) {
  const text = useSignal(typed);
  const active = useSignal<string | undefined>(undefined);
  const prefix = useId();
  const popup = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  // Before the next key is typed.
  useLayoutEffect(() => {
    search.current?.focus();
    search.current?.setSelectionRange(typed.length, typed.length);
    keepInWindow(popup.current);
  }, []);
  useEffect(() => {
    const away = ({ target }: Event) => {
      if (target instanceof Element && popup.current?.parentElement?.contains(target) === false) onClose();
    };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  }, []);
  const isSearch = text.value.trim() !== '';
  const found = isSearch ? searchFormats([...new Set(groups.flatMap(({ formats }) => formats))], text.value) : [];
  const shown: FormatGroup[] = isSearch
    ? found.length > 0
      ? [{ title: 'Matching formats', formats: found }]
      : []
    : [...(blank === undefined ? [] : [{ title: '', formats: [''] }]), ...groups];
  const idOf = ({ title }: FormatGroup, format: string) => `${prefix}-${title}-${format}`.replaceAll(' ', '-');
  const options = () => [...(popup.current?.querySelectorAll<HTMLElement>('[role=option]') ?? [])];
  // While searching, Enter takes the best match.
  const current = active.value ?? (isSearch && shown[0] ? idOf(shown[0], found[0] ?? '') : undefined);
  const move = (to: HTMLElement | undefined) => {
    if (!to) return;
    active.value = to.id;
    to.scrollIntoView({ block: 'nearest' });
  };
  const byKey = (event: KeyboardEvent) => {
    const all = options();
    const at = all.findIndex((option) => option.id === current);
    const start = at < 0 ? all.findIndex((option) => option.ariaSelected === 'true') : at;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        move(at < 0 ? (all[start] ?? all[0]) : nextRow(all, at, event.key === 'ArrowDown' ? 1 : -1));
        break;
      case 'ArrowRight':
      case 'ArrowLeft':
        // Without an active option, the keys move the cursor in the text.
        if (active.value === undefined) return;
        move(all[at + (event.key === 'ArrowRight' ? 1 : -1)]);
        break;
      case 'Home':
      case 'End':
        if (active.value === undefined) return;
        move(event.key === 'Home' ? all[0] : all.at(-1));
        break;
      case 'Enter':
        all[at]?.click();
        break;
      case 'Escape':
        onClose();
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  return (
    <div class="formats" id={id} role="dialog" aria-label="Formats" ref={popup}>
      <input
        ref={search}
        type="text"
        role="combobox"
        aria-label="Search formats"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={`${prefix}-list`}
        {...(current === undefined ? {} : { 'aria-activedescendant': current })}
        placeholder="Search formats"
        autocomplete="off"
        spellcheck={false}
        defaultValue={typed}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          active.value = undefined;
        }}
        onKeyDown={byKey}
      />
      <span class="visually-hidden" role="status">
        {isSearch && (found.length === 1 ? '1 format' : `${found.length} formats`)}
      </span>
      <div role="listbox" id={`${prefix}-list`} aria-label="Formats" tabIndex={-1}>
        {shown.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset groups form fields, not options
          <div role="group" aria-label={group.title || 'No choice'} key={group.title}>
            {group.title !== '' && (
              <div class="group" aria-hidden="true">
                {group.title}
              </div>
            )}
            <div class={group.title === '' ? '' : 'grid'} role="presentation">
              {group.formats.map((format) => (
                // biome-ignore lint/a11y/useFocusableInteractive: the search field keeps the focus
                // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
                <div
                  key={format}
                  role="option"
                  id={idOf(group, format)}
                  class={current === idOf(group, format) ? 'active' : ''}
                  aria-selected={format === value}
                  title={aliasesOf(format)
                    .map((alias) => alias.toUpperCase())
                    .join(', ')}
                  onClick={() => onChoose(format)}
                >
                  {format === '' ? blank : format.toUpperCase()}
                </div>
              ))}
            </div>
          </div>
        ))}
      </div>
      {isSearch && found.length === 0 && <p class="quiet small">No format matches “{text.value.trim()}”.</p>}
    </div>
  );
}

/** Returns the option in the next row that is nearest to the current column. */
function nextRow(options: HTMLElement[], at: number, direction: 1 | -1): HTMLElement | undefined {
  const boxes = options.map((option) => option.getBoundingClientRect());
  const here = boxes[at];
  if (!here) return options[0];
  const beyond = boxes.flatMap((box, index) => ((box.top - here.top) * direction > 1 ? [{ box, index }] : []));
  const edge = Math.min(...beyond.map(({ box }) => box.top * direction)) * direction;
  const row = beyond.filter(({ box }) => Math.abs(box.top - edge) < 1);
  row.sort((a, b) => Math.abs(a.box.left - here.left) - Math.abs(b.box.left - here.left));
  return options[row[0]?.index ?? at];
}

/** Aligns the list with the right side of its button if it would not fit otherwise. */
function keepInWindow(popup: HTMLElement | null): void {
  if (popup && popup.getBoundingClientRect().right > document.documentElement.clientWidth) popup.classList.add('end');
}
