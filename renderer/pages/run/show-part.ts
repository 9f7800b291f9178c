/** Parts of a run's page that others lead to, by the ids of their elements. */
export type RunPart = 'checkpoints' | 'evaluations';

/** Brings a part into view, unfolded, and the keyboard with it. */
export function showPart(part: RunPart): void {
  const element = document.getElementById(part);
  if (!element) return;
  if (element instanceof HTMLDetailsElement) element.open = true;
  element.scrollIntoView({ block: 'start' });
  element.querySelector<HTMLElement>('summary, select, input, button')?.focus({ preventScroll: true });
}
