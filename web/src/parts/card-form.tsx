import { useSignal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useAction } from './load.ts';
import { Problem } from './notice.tsx';

/** Shows a form in a card, submits its data, and clears it on success. */
export function CardForm({
  title,
  action,
  onSubmit,
  children,
}: {
  title: string;
  action: string;
  onSubmit(data: FormData): Promise<void>;
  children: ComponentChildren;
}) {
  const { problem, run } = useAction();
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void run(async () => {
          await onSubmit(new FormData(form));
          form.reset();
        });
      }}
    >
      <h2>{title}</h2>
      {children}
      <div>
        <button type="submit" class="main">
          {action}
        </button>
      </div>
      {problem.value !== '' && <Problem text={problem.value} />}
    </form>
  );
}

/** Shows a required text input with its label. */
export function TextInput({ id, label, ...input }: InputHTMLAttributes & { id: string; label: string }) {
  return (
    <div class="field grow">
      <label for={id}>{label}</label>
      <input id={id} required autocomplete="off" {...input} />
    </div>
  );
}

interface ChoiceProps {
  id: string;
  label: string;
  values: readonly (readonly [value: string, text: string])[];
  /** The initial value; defaults to the first. */
  initial?: string;
  name?: string;
  value?: string;
  onChange?(event: { currentTarget: HTMLSelectElement }): void;
}

/** Shows a selection of values with its label. */
export function Choice({ id, label, values, initial, ...select }: ChoiceProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} {...select}>
        {values.map(([value, text]) => (
          <option key={value} value={value} {...(value === initial ? { selected: true } : {})}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Shows a button that asks for confirmation before it acts. */
export function Confirmed({ label, text, onConfirm }: { label: string; text: string; onConfirm(): void }) {
  const isAsking = useSignal(false);
  return (
    <button
      type="button"
      class="plain danger"
      aria-label={isAsking.value ? `${label}: confirm` : label}
      onClick={() => {
        if (isAsking.value) onConfirm();
        isAsking.value = !isAsking.value;
      }}
      onBlur={() => {
        isAsking.value = false;
      }}
    >
      {isAsking.value ? 'Confirm' : text}
    </button>
  );
}
