import type { StudyState } from '../../../core/contract/contract.ts';
import { useApp } from '../../stores/app-store.ts';

export const stateLabels: Record<StudyState, string> = {
  created: 'Not started',
  active: 'Running',
  incomplete: 'Incomplete',
  completed: 'Completed',
};

/** Returns the title of a sweep's base, which is a preset, a run or a checkpoint (`run@iteration`). */
export function useBaseTitle(base: string): string {
  const preset = useApp(({ presets }) => presets?.find(({ id, alias }) => id === base || alias === base));
  const [runId, iteration] = base.split('@');
  const run = useApp(({ runs }) => runs?.find(({ id }) => id === runId)?.name);
  if (preset) return `${preset.title}${preset.model ? `, ${preset.model.title}` : ''}, ${preset.algorithm}`;
  if (base === 'configuration') return 'a configuration';
  const name = run ?? runId!;
  return iteration === undefined ? name : `${name}, iteration ${iteration}`;
}
