import { useSignal } from '@preact/signals';

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
