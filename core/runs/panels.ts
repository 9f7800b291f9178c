import { panelsOf } from '../run-config/panel.ts';
import { validateConfig } from '../run-config/validate.ts';

/** Returns the labels and hashes of the panels of a run's own evaluations; none if run.json is that of an imported run or a newer version. */
export function readPanels(config: unknown): { label: string; hash: string }[] {
  try {
    return panelsOf(validateConfig(config)).map(({ label, hash }) => ({ label, hash }));
  } catch {
    return [];
  }
}
