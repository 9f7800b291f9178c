import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { number } from '../../../components/format.ts';
import { type Measure, measures, measuresOf, scaleOf } from './token-scale.ts';
import styles from './tokens.module.css';

interface TokenChoiceProps {
  /** Null while loading. */
  tokens: EpisodeTokens | null;
  measure: Measure | null;
  onChoose: (measure: Measure | null) => void;
}

/** Selects the measure that colors tokens, and shows the legend. */
export function TokenChoice({ tokens, measure, onChoose }: TokenChoiceProps) {
  const available = tokens ? measuresOf(tokens) : [];
  const scale = tokens && measure ? scaleOf(tokens, measure) : null;
  return (
    <div className={styles.choice}>
      <label>
        <span className="faint">Color tokens by</span>{' '}
        <select value={measure ?? ''} onChange={({ target }) => onChoose((target.value || null) as Measure | null)}>
          <option value="">none</option>
          {(tokens === null ? (Object.keys(measures) as Measure[]) : available).map((each) => (
            <option key={each} value={each}>
              {measures[each].label.toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      {measure && tokens && !available.includes(measure) && <p className="faint">{missingText(measure, available)}</p>}
      {measure && scale && available.includes(measure) && (
        <div className={`${styles.legend} row wrap`}>
          <span>{number(scale.from)}</span>
          <span
            className={`${styles.scale} ${styles.ramp}`}
            data-signed={measures[measure].signed}
            aria-hidden="true"
          />
          <span>
            {number(scale.to)} {measures[measure].unit}
          </span>
          <span className="faint">{measures[measure].meaning}</span>
        </div>
      )}
    </div>
  );
}

/** Explains a missing measure. Only the update computes advantages, and values if there is a critic. */
function missingText(measure: Measure, available: readonly Measure[]): string {
  if (measure === 'values' && available.includes('advantages')) return 'No values: the run has no critic.';
  if (measure === 'values' || measure === 'advantages') return `No ${measure}: this episode wasn't trained on.`;
  return `No ${measures[measure].label.toLowerCase()} was recorded for this episode.`;
}
