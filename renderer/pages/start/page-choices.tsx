import type { PresetCard } from '../../../core/contract/contract.ts';
import styles from './page-choices.module.css';
import { type Reaction, ReactionChoice } from './reaction-choice.tsx';

interface PageChoicesProps {
  /** One preset of each algorithm. */
  algorithms: readonly PresetCard[];
  chosen: PresetCard;
  choose: (algorithm: string) => void;
  reaction: Reaction;
  chooseReaction: (reaction: Reaction) => void;
}

/** What holds for whichever preset is started: the algorithm, and what is done at a warning. */
export function PageChoices({ algorithms, chosen, choose, reaction, chooseReaction }: PageChoicesProps) {
  return (
    <section className={`panel ${styles.choices}`} aria-label="For every preset below">
      <fieldset className={styles.algorithms}>
        <legend>Algorithm</legend>
        <div className={styles.options}>
          {algorithms.map(({ id, algorithm, baseline }) => (
            <label key={id} data-baseline={baseline || undefined}>
              <input
                type="radio"
                className="visually-hidden"
                name="algorithm"
                value={algorithm}
                aria-describedby="algorithm-method"
                checked={algorithm === chosen.algorithm}
                onChange={() => choose(algorithm)}
              />
              {algorithm}
            </label>
          ))}
        </div>
      </fieldset>
      <p id="algorithm-method" className={styles.method} role="status">
        {chosen.baseline && <span className="badge">Baseline</span>} {chosen.method}
      </p>
      <ReactionChoice value={reaction} choose={chooseReaction} />
    </section>
  );
}
