import { type RunSummary, sampleRunId } from '../../core/contract/contract.ts';
import { type RunTab, runTabs } from '../base/routes.ts';

export const tabTitles: Record<RunTab, string> = {
  overview: 'Overview',
  charts: 'Charts',
  episodes: 'Episodes',
  checkpoints: 'Checkpoints & evaluations',
  log: 'Log',
  configuration: 'Configuration',
};

/** Returns the tabs of a run. An imported run has neither episodes nor checkpoints, and the sample run has no checkpoints. */
export const tabsOf = ({ id, task }: Pick<RunSummary, 'id' | 'task'>): readonly RunTab[] =>
  runTabs.filter(
    (tab) =>
      !(task === 'imported' && (tab === 'episodes' || tab === 'checkpoints')) &&
      !(id === sampleRunId && tab === 'checkpoints'),
  );
