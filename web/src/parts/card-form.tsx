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
