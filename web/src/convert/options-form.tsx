import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../service/request.ts';
import type { Option } from '../service/types.ts';
import { optionsOf } from './formats.ts';
import type { Item, OptionValues } from './items.ts';

/** Tells whether an option applies beside the others, by the rules that the service checks. */
function applies(option: Option, all: Option[], values: OptionValues): boolean {
  return option.conditions.every(({ name, required, meta }) => {
    const other = values[name] ?? all.find((each) => each.name === name)?.default_value ?? '';
    if (other === '') return !required;
    return meta.some(({ value }) => String(value) === other);
  });
}

/** Shows the options of a conversion as a form; what is left alone is left to the service. */
export function OptionsForm({ item }: { item: Item }) {
  const options = useSignal<Option[] | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    let isCurrent = true;
    options.value = undefined;
    item.options.value = {};
    optionsOf(item.from, item.to.value).then(
      (found) => {
        if (isCurrent) options.value = found;
      },
      (error) => {
        problem.value = messageOf(error);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [item.to.value]);
  useSignalEffect(() => {
    // An option whose condition no longer holds would be refused.
    const all = options.value;
    if (!all) return;
    const kept = Object.entries(item.options.value).filter(([name]) => {
      const option = all.find((each) => each.name === name);
      return option && applies(option, all, item.options.value);
    });
    if (kept.length < Object.keys(item.options.value).length) item.options.value = Object.fromEntries(kept);
  });
  if (problem.value !== '') return <p class="quiet">{problem.value}</p>;
  const all = options.value;
  if (!all) return <p class="quiet">Loading options …</p>;
  if (all.length === 0) return <p class="quiet">This conversion has no options.</p>;
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = item.options.value;
    item.options.value = value === '' ? others : { ...others, [name]: value };
  };
  return (
    <div class="options">
      {all
        .filter((option) => applies(option, all, item.options.value))
        .map((option) => (
          <OptionField
            key={option.name}
            id={`option-${item.id}-${option.name}`}
            option={option}
            value={item.options.value[option.name] ?? ''}
            onChange={(value) => set(option.name, value)}
          />
        ))}
    </div>
  );
}

interface FieldProps {
  id: string;
  option: Option;
  value: string;
  onChange(value: string): void;
}

function OptionField({ id, option, value, onChange }: FieldProps) {
  const range = rangeText(option);
  return (
    <div class="field">
      <label for={id}>{option.label ?? titleOf(option.name)}</label>
      <div class="with-unit">
        <Control id={id} option={option} value={value} onChange={onChange} />
        {option.units !== undefined && <span class="quiet small">{option.units}</span>}
      </div>
      <span class="hint" id={`${id}-hint`}>
        {option.hint}
        {range !== '' && ` ${range}`}
      </span>
    </div>
  );
}

function Control({ id, option, value, onChange }: FieldProps) {
  const common = { id, 'aria-describedby': `${id}-hint` };
  const choices =
    option.data_type === 'boolean'
      ? [
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]
      : (option.enum_values ?? []).map(({ value: each, label }) => ({
          value: each,
          label: label ?? titleOf(each),
        }));
  if (choices.length > 0) {
    const standard = choices.find((choice) => choice.value === option.default_value);
    return (
      <select {...common} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{standard ? `Default (${standard.label})` : 'Default'}</option>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    );
  }
  const { min, max, pattern } = option.properties ?? {};
  const given = { ...common, value, placeholder: option.default_value };
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

function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
