/** Sections of a run's page that commands scroll to. */
export type RunSection = 'checkpoints' | 'evaluations';

/** Returns the element id of a section, which is unique per run. */
export const sectionId = (runId: string, section: RunSection) => `${section}-${runId}`;

/** Opens a section, scrolls to it and focuses its first control. */
export function showSection(runId: string, section: RunSection): void {
  const element = document.getElementById(sectionId(runId, section));
  if (!element) return;
  if (element instanceof HTMLDetailsElement) element.open = true;
  element.scrollIntoView({ block: 'start' });
  element.querySelector<HTMLElement>('summary, select, input, button')?.focus({ preventScroll: true });
}
