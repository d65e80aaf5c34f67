import type { ComponentChildren } from 'preact';

/** Attributes that connect a control to its label, hint and problem. */
export interface ControlAttributes {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
}

interface FieldProps {
  id: string;
  label: string;
  hint?: string;
  problem?: string;
  children(attributes: ControlAttributes): ComponentChildren;
}

/** Shows a control with its label, hint and problem. */
export function Field({ id, label, hint = '', problem = '', children }: FieldProps) {
  const described = [...(hint === '' ? [] : [`${id}-hint`]), ...(problem === '' ? [] : [`${id}-problem`])].join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(problem === '' ? {} : { 'aria-invalid': true }),
      })}
      {hint !== '' && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem !== '' && (
        <span class="wrong" id={`${id}-problem`}>
          {problem}
        </span>
      )}
    </div>
  );
}
