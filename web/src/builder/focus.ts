/** Moves the keyboard to an element that is about to be shown, from one that is about to go. */
export function focusOn(id: string): void {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
}
