import { useSignal } from '@preact/signals';
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

interface DisclosureProps {
  title: string;
  /** Opens it, for example for problems; the user can close it again. Defaults to false. */
  isNeeded?: boolean;
  children(isOpen: boolean): ComponentChildren;
}

/** Shows rarely needed content on demand. */
export function Disclosure({ title, isNeeded = false, children }: DisclosureProps) {
  const isOpen = useSignal(false);
  return (
    <details
      open={isOpen.value || isNeeded}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {children(isOpen.value)}
    </details>
  );
}
