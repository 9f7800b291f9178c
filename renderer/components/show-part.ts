/** Sections of a run's page that commands link to. */
export type RunPart = 'checkpoints' | 'evaluations';

/** Element id of a section; unique per run. */
export const partId = (runId: string, part: RunPart) => `${part}-${runId}`;

/** Opens a section, scrolls to it and focuses its first control. */
export function showPart(runId: string, part: RunPart): void {
  const element = document.getElementById(partId(runId, part));
  if (!element) return;
  if (element instanceof HTMLDetailsElement) element.open = true;
  element.scrollIntoView({ block: 'start' });
  element.querySelector<HTMLElement>('summary, select, input, button')?.focus({ preventScroll: true });
}
