import type { PresetCard } from '../../../core/contract/contract.ts';
import { type AutomaticAction, AutomaticActionChoice } from './automatic-action-choice.tsx';
import styles from './page-choices.module.css';

interface PageChoicesProps {
  /** One preset per algorithm. */
  algorithms: readonly PresetCard[];
  /** Null: the recommended preset of each task. */
  chosen: PresetCard | null;
  choose: (algorithm: string | null) => void;
  automaticAction: AutomaticAction;
  chooseAutomaticAction: (action: AutomaticAction) => void;
}

const recommendedText =
  'Some tasks use StarPO-S (GRPO), which beat StarPO-S (PPO) on them after equal compute. All other presets use StarPO-S (PPO).';

/** Shows settings for all presets: the algorithm and the automatic action. */
export function PageChoices({ algorithms, chosen, choose, automaticAction, chooseAutomaticAction }: PageChoicesProps) {
  const others = algorithms.filter(({ starpo }) => !starpo);
  return (
    <section className={`panel ${styles.choices}`} aria-label="Settings for all presets">
      <fieldset className={`${styles.algorithms} row`}>
        <legend>Algorithm</legend>
        <div className={`${styles.options} wrap`}>
          <AlgorithmOption checked={chosen === null} choose={() => choose(null)}>
            Recommended
          </AlgorithmOption>
          {algorithms
            .filter(({ starpo }) => starpo)
            .map(({ id, algorithm, baseline }) => (
              <AlgorithmOption
                key={id}
                checked={algorithm === chosen?.algorithm}
                baseline={baseline}
                choose={() => choose(algorithm)}
              >
                {algorithm}
              </AlgorithmOption>
            ))}
        </div>
        {others.length > 0 && (
          <select
            aria-label="Other algorithm"
            aria-describedby="algorithm-method"
            data-chosen={chosen?.starpo === false || undefined}
            value={chosen?.starpo === false ? chosen.algorithm : ''}
            onChange={({ target }) => choose(target.value)}
          >
            <option value="" disabled>
              Other…
            </option>
            {others.map(({ id, algorithm }) => (
              <option key={id}>{algorithm}</option>
            ))}
          </select>
        )}
      </fieldset>
      <p id="algorithm-method" className="muted small" role="status">
        {chosen?.baseline && <span className="badge">Baseline</span>} {chosen ? chosen.method : recommendedText}
        {chosen?.starpo === false && ' Presets without this algorithm keep StarPO-S.'}
      </p>
      <AutomaticActionChoice value={automaticAction} choose={chooseAutomaticAction} />
    </section>
  );
}

interface AlgorithmOptionProps {
  checked: boolean;
  baseline?: boolean;
  choose: () => void;
  children: string;
}

function AlgorithmOption({ checked, baseline = false, choose, children }: AlgorithmOptionProps) {
  return (
    <label data-baseline={baseline || undefined}>
      <input
        type="radio"
        className="visually-hidden"
        name="algorithm"
        value={children}
        aria-describedby="algorithm-method"
        checked={checked}
        onChange={choose}
      />
      {children}
    </label>
  );
}
