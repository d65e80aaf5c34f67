import { titleOf } from '../convert/option-groups.ts';
import { Field } from '../parts/field.tsx';
import type { Json } from './draft.ts';
import type { Parameter } from './operations.ts';

interface ParameterProps {
  id: string;
  parameter: Parameter;
  value: Json | undefined;
  problem: string;
  onChange(value: Json | undefined): void;
}

const yesOrNo = [
  ['true', 'Yes'],
  ['false', 'No'],
];

/** Shows the field for a parameter of an operation. */
export function ParameterField({ id, parameter, value, problem, onChange }: ParameterProps) {
  const { name, kind, values, hint, example, isRequired } = parameter;
  const given = value === undefined || value === null ? '' : typeof value === 'object' ? '' : String(value);
  const setText = (text: string) => onChange(text === '' ? undefined : text);
  return (
    <Field id={id} label={titleOf(name)} hint={hint} problem={problem}>
      {(attributes) => {
        const common = { ...attributes, ...(isRequired ? { required: true } : {}) };
        switch (kind) {
          case 'choice':
          case 'boolean': {
            const isChoice = kind === 'choice';
            const choices = isChoice ? values.map((each) => [each, titleOf(each)]) : yesOrNo;
            const set = (text: string) => (isChoice || text === '' ? setText(text) : onChange(text === 'true'));
            return (
              <select {...common} value={given} onChange={({ currentTarget }) => set(currentTarget.value)}>
                <option value="">{isChoice ? 'Choose' : 'Default'}</option>
                {choices.map(([each, title]) => (
                  <option key={each} value={each}>
                    {title}
                  </option>
                ))}
              </select>
            );
          }
          case 'number':
            return (
              <input
                {...common}
                type="number"
                step="any"
                value={given}
                onInput={({ currentTarget: { value: text } }) =>
                  onChange(text === '' ? undefined : String(Number(text)) === text ? Number(text) : text)
                }
              />
            );
          case 'pairs':
            return (
              <textarea
                {...common}
                rows={2}
                placeholder="Name: value"
                spellcheck={false}
                // While typing, the text may have an incomplete line, which is not kept.
                defaultValue={textOfPairs(value)}
                onInput={({ currentTarget }) => onChange(pairsIn(currentTarget.value))}
              />
            );
          case 'long text':
            return (
              <textarea
                {...common}
                rows={3}
                spellcheck={false}
                value={given}
                onInput={({ currentTarget }) => setText(currentTarget.value)}
              />
            );
          default: {
            const line = {
              ...common,
              autocomplete: 'off',
              spellcheck: false,
              placeholder: example,
              value: given,
              onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => setText(currentTarget.value),
            };
            return kind === 'secret' ? <input {...line} type="password" /> : <input {...line} type="text" />;
          }
        }
      }}
    </Field>
  );
}

function textOfPairs(value: Json | undefined): string {
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${each}`)
    .join('\n');
}

function pairsIn(text: string): Json | undefined {
  const pairs = text.split('\n').flatMap((line) => {
    const colon = line.indexOf(':');
    return colon > 0 ? [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]] : [];
  });
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** Shows a field for a file. */
export function FileField({ id, hint, onChoose }: { id: string; hint: string; onChoose(file: File): void }) {
  return (
    <Field id={id} label="File" hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          type="file"
          onChange={({ currentTarget: { files } }) => {
            const [file] = files ?? [];
            if (file) onChoose(file);
          }}
        />
      )}
    </Field>
  );
}
