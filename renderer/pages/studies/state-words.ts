import type { StudyState } from '../../../core/contract/contract.ts';

export const stateWords: Record<StudyState, string> = {
  created: 'Not started',
  active: 'Under way',
  incomplete: 'Incomplete',
  completed: 'Completed',
};
