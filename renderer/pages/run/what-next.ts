import type { RunSummary } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/router.ts';
import type { Learned } from './outcome.ts';

/** Something to do with a run that is through, and why. */
export interface Idea {
  why: string;
  /** What the link or button says. */
  words: string;
  /** An address, or a part of the run's page. */
  to: { href: string } | { part: 'echo-trap' | 'evaluations' | 'train-more' };
}

/** Nearly all levels. */
const solved = 0.95;
/** By how much success has to be above the evaluation before to rise, and below the best one to have fallen. */
const clear = 0.02;
const fallen = 0.1;

const fallingStates: readonly string[] = ['warning', 'collapsing', 'collapsed'];

/** At most three, the most telling first. */
export function ideasFor(run: RunSummary, learned: readonly Learned[]): Idea[] {
  const study = (set: Record<string, string> = {}) =>
    formatRoute({ page: 'new', from: { run: run.id, checkpoint: null }, set, study: true });
  const ideas: Idea[] = [];
  const drop = learned.find(({ best, last }) => best.value - last.value >= fallen);
  if (drop || (run.trap && fallingStates.includes(run.trap.state)))
    ideas.push({
      why: drop
        ? `Success was best at iteration ${drop.best.iteration} and fell after it.`
        : 'The Echo Trap’s monitor warns of this run.',
      words: 'See what helps',
      to: { part: 'echo-trap' },
    });
  if (learned.length > 0 && learned.every(({ last }) => last.value >= solved))
    ideas.push({
      why: 'It solves nearly every level.',
      words: 'Evaluate it where it is harder',
      to: { part: 'evaluations' },
    });
  else if (ideas.length === 0 && learned.some(isRising))
    ideas.push({ why: 'Success was still rising.', words: 'Train more', to: { part: 'train-more' } });
  else if (ideas.length === 0 && learned.length > 0)
    ideas.push({
      why: 'Success no longer rose at the end.',
      words: 'Vary the learning rate',
      to: { href: study() },
    });
  ideas.push(
    { why: 'One seed says little.', words: 'Repeat it with more seeds', to: { href: study() } },
    {
      why: 'Are you better?',
      words: 'Play its levels beside it',
      to: { href: formatRoute({ page: 'play', runId: run.id, checkpoint: null }) },
    },
  );
  return ideas.slice(0, 3);
}

/** What there is to see in the run that comes with the app, which nobody goes on from. */
export function sightsOf(run: RunSummary): Idea[] {
  const sights: Idea[] = [
    {
      why: 'Every board and every word of its last episodes is here.',
      words: 'Replay them',
      to: { href: formatRoute({ page: 'replay', runId: run.id, episodeId: null }) },
    },
    {
      why: 'What did it think, and how did that change?',
      words: 'See its thoughts change',
      to: { href: formatRoute({ page: 'thoughts', runId: run.id, iteration: null }) },
    },
  ];
  if (run.trap?.state === 'watch')
    sights.push({
      why: 'The Echo Trap’s monitor began to watch it, and it held.',
      words: 'See why',
      to: { part: 'echo-trap' },
    });
  return sights;
}

/** The newest evaluation is the best one, and clearly better than the one before. */
const isRising = ({ last, best, step }: Learned) => best.iteration === last.iteration && step >= clear;
