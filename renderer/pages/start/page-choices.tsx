import type { PresetCard } from '../../../core/contract/contract.ts';
import styles from './page-choices.module.css';
import { type Reaction, ReactionChoice } from './reaction-choice.tsx';

interface PageChoicesProps {
  /** One preset per algorithm. */
  algorithms: readonly PresetCard[];
  chosen: PresetCard;
  choose: (algorithm: string) => void;
  reaction: Reaction;
  chooseReaction: (reaction: Reaction) => void;
}

/** Settings for all presets: the algorithm and the automatic action. */
export function PageChoices({ algorithms, chosen, choose, reaction, chooseReaction }: PageChoicesProps) {
  return (
    <section className={`panel ${styles.choices}`} aria-label="Settings for all presets">
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
