import type { RunSummary } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { minimumDrop } from '../../episodes/learned.ts';
import type { Learned } from './outcome.ts';

/** A suggested next step and its reason. */
export interface Idea {
  why: string;
  /** Text of the link or button. */
  label: string;
  /** An address, or a dialog about the run. */
  to: { href: string } | { dialog: 'evaluate' | 'train-more' } | { dialog: 'fork'; checkpoint: number };
}

/** Success rate from which an environment counts as solved. */
const solved = 0.95;
/** Rise over the previous evaluation that counts as improving. */
const minimumRise = 0.02;

/** Returns at most three suggestions, the most relevant first; none for an imported run. */
export function ideasFor(run: RunSummary, learned: readonly Learned[]): Idea[] {
  // It has no settings and no checkpoints.
  if (run.task === 'imported') return [];
  const study = formatRoute({ page: 'new', from: { run: run.id, checkpoint: null }, set: {}, study: true });
  const ideas: Idea[] = [];
  const drop = learned.find(({ best, last }) => best.value - last.value >= minimumDrop);
  if (drop && run.collapse === null)
    ideas.push({
      why: `Success peaked at iteration ${drop.best.iteration} and dropped afterwards.`,
      label: 'Fork from before the drop',
      to: { dialog: 'fork', checkpoint: drop.best.iteration },
    });
  if (learned.length > 0 && learned.every(({ last }) => last.value >= solved))
    ideas.push({
      why: 'The policy solves nearly every level.',
      label: 'Evaluate on harder levels',
      to: { dialog: 'evaluate' },
    });
  else if (ideas.length === 0 && run.collapse === null && learned.some(isRising))
    ideas.push({ why: 'Success was still rising.', label: 'Train more', to: { dialog: 'train-more' } });
  else if (ideas.length === 0 && run.collapse === null && learned.length > 0)
    ideas.push({
      why: 'Success plateaued.',
      label: 'Vary a setting',
      to: { href: study },
    });
  ideas.push(
    run.study
      ? {
          why: `It belongs to the sweep ${run.study.name}.`,
          label: 'Open the sweep',
          to: { href: formatRoute({ page: 'study', studyId: run.study.id }) },
        }
      : { why: 'One seed is not enough to judge.', label: 'Repeat with more seeds', to: { href: study } },
    {
      why: 'Compare yourself with the policy.',
      label: 'Play the same levels',
      to: { href: formatRoute({ page: 'play', runId: run.id, checkpoint: null }) },
    },
  );
  return ideas.slice(0, 3);
}

/** Suggestions for the sample run, which can't be resumed or forked. */
export function sampleIdeas(run: RunSummary): Idea[] {
  return [
    {
      why: 'See every turn and response.',
      label: 'Replay its last episodes',
      to: { href: formatRoute({ page: 'replay', runId: run.id, episodeId: null }) },
    },
    {
      why: 'See how its reasoning changed during training.',
      label: 'Open the reasoning tree',
      to: { href: formatRoute({ page: 'thoughts', runId: run.id, iteration: null }) },
    },
  ];
}

/** Returns whether the newest evaluation is the best and clearly better than the previous evaluation. */
const isRising = ({ last, best, step }: Learned) => best.iteration === last.iteration && step >= minimumRise;
