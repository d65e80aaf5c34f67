import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type ControlAttributes, Disclosure, Field } from '../parts/field.tsx';
import { useLatest } from '../parts/load.ts';
import type { Option } from '../service/types.ts';
import { type Conversion, optionsOf } from './formats.ts';
import { groupOptions, labelsOf, titleOf } from './option-groups.ts';

export type OptionValues = Record<string, string | number | boolean>;

interface Props extends Conversion {
  /** Prefix that makes the ids of the fields unique. */
  id: string;
  values: OptionValues;
  onChange(values: OptionValues): void;
  /** Problems by option. */
  problems?: Record<string, string>;
}

/** Returns whether an option applies, given the other values. The service checks the same rules. */
function applies(option: Option, values: OptionValues): boolean {
  return option.conditions.every(({ name, required, meta }) => {
    const other = values[name];
    if (other === undefined) return !required;
    return meta.some(({ value }) => String(value) === String(other));
  });
}

/** Returns the values that the service would accept. */
function accepted(all: Option[], values: OptionValues): OptionValues {
  const kept = Object.entries(values).filter(([name, value]) => {
    const option = all.find((each) => each.name === name);
    if (!option || !applies(option, values)) return false;
    return option.type !== 'enum' || (option.enum_values ?? []).some((each) => each.value === String(value));
  });
  return kept.length < Object.keys(values).length ? accepted(all, Object.fromEntries(kept)) : values;
}

/** Converts the text of a field to the type of its option; an incomplete number stays text. */
function typed({ data_type }: Option, text: string): string | number | boolean {
  if (data_type === 'boolean') return text === 'true';
  return data_type !== 'string' && String(Number(text)) === text ? Number(text) : text;
}

/** Shows the options of a conversion as a form; the service fills in defaults. */
export function OptionsForm({ id, operation, from, to, values, onChange, problems = {} }: Props) {
  const options = useSignal<Option[] | undefined>(undefined);
  const problem = useSignal('');
  const isOther = useRef(false);
  const now = useRef({ values, onChange });
  now.current = { values, onChange };
  useLatest(
    () => {
      options.value = undefined;
      problem.value = '';
      return optionsOf({ operation, from, to });
    },
    (found) => {
      options.value = found;
      // Values chosen for other formats may not be options of these.
      const left = accepted(found, now.current.values);
      if (isOther.current && left !== now.current.values) now.current.onChange(left);
      isOther.current = true;
    },
    problem,
    [operation, from, to],
  );
  if (problem.value !== '') return <p class="quiet">{problem.value}</p>;
  const all = options.value;
  if (!all) return <p class="quiet">Loading options …</p>;
  const unknown = Object.keys(values).filter((name) => !all.some((option) => option.name === name));
  if (all.length === 0 && unknown.length === 0) return <p class="quiet">This conversion has no options.</p>;
  const set = (option: Option, text: string) => {
    const { [option.name]: _, ...others } = values;
    onChange(accepted(all, text === '' ? others : { ...others, [option.name]: typed(option, text) }));
  };
  const groups = groupOptions(
    all.filter((option) => applies(option, values)),
    values,
  );
  const labels = labelsOf(groups);
  const fields = (own: Option[]) => (
    <div class="options">
      {own.map((option) => (
        <OptionField
          key={option.name}
          id={`option-${id}-${option.name}`}
          label={labels.get(option.name) ?? option.name}
          option={option}
          value={String(values[option.name] ?? '')}
          problem={problems[option.name] ?? ''}
          onChange={(text) => set(option, text)}
        />
      ))}
    </div>
  );
  return (
    <div class="stack option-groups">
      {groups.map(({ title, options: own }) =>
        title === 'Advanced' && groups.length > 1 ? (
          <Disclosure
            key={title}
            title={title}
            isNeeded={own.some(({ name }) => name in values || (problems[name] ?? '') !== '')}
          >
            {() => fields(own)}
          </Disclosure>
        ) : (
          <fieldset key={title}>
            <legend class={groups.length > 1 ? '' : 'visually-hidden'}>{title}</legend>
            {fields(own)}
          </fieldset>
        ),
      )}
      {unknown.map((name) => (
        <div key={name} class="field">
          <span>
            <code>{name}</code> is not an option of this conversion.
          </span>
          <div>
            <button type="button" onClick={() => onChange(accepted(all, values))}>
              Remove
            </button>
          </div>
        </div>
      ))}
    </div>
  );
}

interface FieldProps {
  id: string;
  label: string;
  option: Option;
  value: string;
  problem: string;
  onChange(text: string): void;
}

function OptionField({ id, label, option, value, problem, onChange }: FieldProps) {
  const choice = choicesOf(option).find((each) => each.value === (value || option.default_value));
  const hint = [option.hint ?? '', rangeText(option), choice?.detail ?? ''].filter((text) => text !== '').join(' ');
  return (
    <Field id={id} label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <div class="with-unit">
          <Control attributes={attributes} option={option} value={value} onChange={onChange} />
          {option.units !== undefined && <span class="quiet small">{option.units}</span>}
        </div>
      )}
    </Field>
  );
}

interface Choice {
  value: string;
  title: string;
  /** What the choice means, if its title does not say so. */
  detail: string;
}

/** Longer labels would be cut off in a narrow select. */
const maxTitleLength = 30;

function choicesOf({ data_type, enum_values = [] }: Option): Choice[] {
  if (data_type === 'boolean')
    return [
      { value: 'true', title: 'Yes', detail: '' },
      { value: 'false', title: 'No', detail: '' },
    ];
  return enum_values.map(({ value, label = '', hint = '' }) => {
    const isWord = /^[a-z][\w -]*$/i.test(value);
    const title = label !== '' && label.length <= maxTitleLength ? label : isWord ? value : hint || value;
    const detail = (label || hint).replace(/\.$/, '');
    return { value, title: titleOf(title), detail: detail === title || detail === '' ? '' : `${detail}.` };
  });
}

interface ControlProps extends Pick<FieldProps, 'option' | 'value' | 'onChange'> {
  attributes: ControlAttributes;
}

function Control({ attributes, option, value, onChange }: ControlProps) {
  const { default_value: standard, properties: { min, max, pattern } = {} } = option;
  const choices = choicesOf(option);
  if (choices.length > 0) {
    const hasDefault = choices.some((choice) => choice.value === standard);
    return (
      <select
        {...attributes}
        value={value === standard ? '' : value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {!hasDefault && <option value="">Automatic</option>}
        {choices.map((choice) =>
          choice.value === standard ? (
            <option key="" value="">
              {choice.title} (default)
            </option>
          ) : (
            <option key={choice.value} value={choice.value}>
              {choice.title}
            </option>
          ),
        )}
      </select>
    );
  }
  const given = { ...attributes, value, placeholder: standard === '' ? 'Automatic' : `${standard} (default)` };
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => onChange(currentTarget.value);
  if (option.data_type === 'string')
    return <input {...given} type="text" {...(pattern === undefined ? {} : { pattern })} onInput={onInput} />;
  return (
    <input
      {...given}
      type="number"
      step={option.data_type === 'integer' ? 1 : 'any'}
      {...(min === undefined ? {} : { min })}
      {...(max === undefined ? {} : { max })}
      onInput={onInput}
    />
  );
}

function rangeText({ data_type, properties: { min, max } = {} }: Option): string {
  if (data_type === 'string') return '';
  if (min !== undefined && max !== undefined) return `${min} to ${max}.`;
  if (min !== undefined) return `At least ${min}.`;
  return max === undefined ? '' : `At most ${max}.`;
}
