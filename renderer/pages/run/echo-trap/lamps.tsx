import type { TrapLamp } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { number } from '../../../components/format.ts';
import { lampWords, lightWords } from '../../../components/trap-words.ts';
import styles from './lamps.module.css';

/** The four Echo Trap indicators in the paper's order, each with its value and the run's baseline. */
export function Lamps({ lamps }: { lamps: readonly TrapLamp[] }) {
  return (
    <ul className={styles.lamps} aria-label="Echo Trap indicators">
      {lamps.map((lamp) => (
        <Lamp key={lamp.name} lamp={lamp} />
      ))}
    </ul>
  );
}

function Lamp({ lamp }: { lamp: TrapLamp }) {
  const { name, light, series, value, baseline, since } = lamp;
  const words = lampWords[name];
  return (
    <li className={styles.lamp} data-light={light} title={words.sign}>
      <Bulb light={light} />
      <div>
        <p className={styles.name}>
          {words.name} <strong>{lightWords[light]}</strong>
        </p>
        <p className={styles.figures}>
          {value === null ? (
            'not measured'
          ) : (
            <>
              <span>{number(value)}</span>
              {baseline !== null && <span>baseline {number(baseline)}</span>}
            </>
          )}
          {since !== null && <span>since {since}</span>}
        </p>
        {series !== '' && metricTitle(series) !== words.name && (
          <p className={styles.series}>{metricTitle(series)}</p>
        )}
      </div>
    </li>
  );
}

/** The indicators in one line, as shapes with a text alternative. */
export function LampRow({ lamps }: { lamps: readonly TrapLamp[] }) {
  const text = lamps.map(({ name, light }) => `${lampWords[name].name} ${lightWords[light]}`).join(', ');
  return (
    <span className={styles.row} title={text}>
      <span className="visually-hidden">{text}</span>
      {lamps.map(({ name, light }) => (
        <span key={name} data-light={light} aria-hidden="true">
          <Bulb light={light} />
        </span>
      ))}
    </span>
  );
}

/** On: filled, with an exclamation mark. Off: an empty ring. No data: a dashed ring. */
function Bulb({ light }: Pick<TrapLamp, 'light'>) {
  return (
    <svg className={styles.bulb} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <circle
        cx="8"
        cy="8"
        r={light === 'on' ? 7.5 : 6}
        fill={light === 'on' ? 'currentColor' : 'none'}
        stroke="currentColor"
        strokeWidth={light === 'on' ? 0 : 1.6}
        strokeDasharray={light === 'unknown' ? '2.6 2.2' : undefined}
      />
      {light === 'on' && (
        <path d="M8 3.8v5M8 11.2v1" stroke="var(--panel)" strokeWidth="2" strokeLinecap="round" />
      )}
    </svg>
  );
}
