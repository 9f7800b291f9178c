/** Parts of a run's page that others lead to. */
export type RunPart = 'checkpoints' | 'evaluations';

/** The id of a part's element; several runs may be open side by side. */
export const partId = (runId: string, part: RunPart) => `${part}-${runId}`;

/** Brings a part into view, unfolded, and the keyboard with it. */
export function showPart(runId: string, part: RunPart): void {
  const element = document.getElementById(partId(runId, part));
  if (!element) return;
  if (element instanceof HTMLDetailsElement) element.open = true;
  element.scrollIntoView({ block: 'start' });
  element.querySelector<HTMLElement>('summary, select, input, button')?.focus({ preventScroll: true });
}
