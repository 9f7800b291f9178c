import type { Game, HumanSuccess, PlayResult } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { percent } from '../../components/format.ts';
import { LevelChoice } from './level-choice.tsx';
import styles from './score.module.css';

/** Number of levels to play before the success rate is saved. */
const minLevels = 10;

interface ScoreTableProps {
  game: Game;
  saved: HumanSuccess | null;
  onLevel: (level: number) => void;
}

/** Shows the results of the user and the agent on every level. */
export function ScoreTable({ game, saved, onLevel }: ScoreTableProps) {
  const { results, level } = game;
  const yours = tally(results, 'you');
  const agents = tally(results, 'agent');
  return (
    <section className={`panel ${styles.score} column`} aria-labelledby="play-score">
      <header className={`${styles.head} row wrap`}>
        <h2 id="play-score">Score</h2>
        <LevelChoice level={level} onLevel={onLevel} />
      </header>
      <dl className={styles.tallies}>
        <Tally name="Agent" {...agents} isAhead={isAhead(agents, yours)} />
        <Tally name="You" {...yours} isAhead={isAhead(yours, agents)} />
      </dl>
      <p className="muted small">{goalText(yours, saved)}</p>
      {results.length > 0 && (
        <div className={styles.scroll}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Level</th>
                <th scope="col">Agent</th>
                <th scope="col">You</th>
              </tr>
            </thead>
            <tbody>
              {results.toReversed().map((result) => (
                <tr key={result.level} aria-current={result.level === level || undefined}>
                  <th scope="row">
                    <button type="button" className={styles.level} onClick={() => onLevel(result.level)}>
                      {result.level}
                      <span className="visually-hidden">: go to this level</span>
                    </button>
                  </th>
                  <Cell result={result.agent} />
                  <Cell result={result.you} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface Rate {
  levels: number;
  solved: number;
}

function tally(results: readonly PlayResult[], who: 'agent' | 'you'): Rate {
  const own = results.flatMap((result) => result[who] ?? []);
  return { levels: own.length, solved: own.filter(({ success }) => success).length };
}

const rateOf = ({ levels, solved }: Rate) => (levels === 0 ? Number.NaN : solved / levels);
const isAhead = (own: Rate, other: Rate) => rateOf(own) > rateOf(other);

function Tally({ name, levels, solved, isAhead }: Rate & { name: string; isAhead: boolean }) {
  return (
    <div data-ahead={isAhead || undefined}>
      <dt>{name}</dt>
      <dd className={styles.rate}>{levels === 0 ? '–' : percent(solved / levels, 0)}</dd>
      <dd className="faint">
        {solved} of {levels} solved
      </dd>
    </div>
  );
}

function Cell({ result }: { result: PlayResult['agent'] }) {
  if (!result) return <td className="faint">–</td>;
  const { success, moves } = result;
  return (
    <td>
      <span className="tag" data-kind={success ? 'good' : 'bad'}>
        {success ? 'solved' : 'failed'}
      </span>{' '}
      <span className="faint">{count(moves, 'action')}</span>
    </td>
  );
}

/** Describes the saved score. It is saved after every level from the tenth on, unless the run's folder can't be written. */
export function goalText({ levels, solved }: Rate, saved: HumanSuccess | null): string {
  if (levels >= minLevels)
    return saved?.levels === levels && saved.successes === solved
      ? 'Your score is saved. In a run with one environment, the success chart shows it as the line “You”.'
      : 'Your score is not saved yet.';
  const left = minLevels - levels;
  const play = `Play ${count(left, 'more level')} to`;
  return saved ? `Saved: ${saved.successes} of ${saved.levels}. ${play} replace it.` : `${play} save your score.`;
}
