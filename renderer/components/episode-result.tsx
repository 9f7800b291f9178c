import type { EpisodeSummary } from '../../core/contract/contract.ts';
import { signed } from './format.ts';

type Played = Pick<EpisodeSummary, 'success' | 'void'>;

/** Returns whether an episode counts. Void episodes don't, because their environment or the reward program failed. */
export const isScored = (episode: Pick<EpisodeSummary, 'void'>): boolean => !episode.void;

/** Returns the result of an episode in a word. */
export const resultWord = (episode: Played): 'void' | 'success' | 'failed' =>
  episode.void ? 'void' : episode.success ? 'success' : 'failed';

/** Returns the reward with its sign; a void episode has none. */
export const rewardText = (episode: Pick<EpisodeSummary, 'void' | 'reward'>): string =>
  episode.void ? '–' : signed(episode.reward);

/** Prefix with which the trainer begins the reason of an episode that the reward program failed to score. */
const ofProgram = 'reward program: ';

/** Returns what failed in a void episode, and how. */
export const voidText = ({ reason }: NonNullable<EpisodeSummary['void']>): string =>
  reason.startsWith(ofProgram)
    ? `the reward program failed: ${reason.slice(ofProgram.length)}`
    : `the environment failed: ${reason}`;

const marks = { void: '∅', success: '✓', failed: '✕' } as const;

/** Shows the result of an episode as a mark. */
export function ResultMark({ episode }: { episode: Played }) {
  const result = resultWord(episode);
  return (
    <span className="result" data-result={result} title={episode.void?.reason} aria-hidden="true">
      {marks[result]}
    </span>
  );
}

const tones = { void: 'slip', success: 'good', failed: 'bad' } as const;

/** Shows the result of an episode as a tag. */
export function ResultTag({ episode }: { episode: Played }) {
  const result = resultWord(episode);
  return (
    <span className="tag" data-kind={tones[result]} title={episode.void?.reason}>
      {result}
    </span>
  );
}
