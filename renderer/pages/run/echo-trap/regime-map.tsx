import type { RegimePoint, RegimeMap as Regimes } from '../../../../core/contract/contract.ts';
import { metricInSentence } from '../../../../core/contract/metric-titles.ts';
import { quadrantOf } from '../../../../core/contract/regime-map.ts';
import { settingFacts } from '../../../../core/facts/setting-facts.ts';
import { inOrder } from '../../../components/in-order.ts';
import { regimeLabels, type Tone } from '../../../components/trap-labels.ts';
import styles from './regime-map.module.css';

/** The quadrants. Entropy increases upward, dependence on the level to the right. */
const quadrants = [
  { row: 0, column: 0 },
  { row: 0, column: 1 },
  { row: 1, column: 0 },
  { row: 1, column: 1 },
] as const;
type Quadrant = (typeof quadrants)[number];

/** Returns the regime of a quadrant by the rule that names a run's regime. */
const regimeIn = ({ row, column }: Quadrant, cross: Regimes['cross']) =>
  quadrantOf({ entropy: row === 0 ? cross.entropy : 0, dependence: column === 1 ? cross.dependence : 0 }, cross);

const namedByTexts: Record<Regimes['namedBy'], string> = {
  state: 'The position alone is not evidence of collapse.',
  signals: 'The active signals give the regime its name, wherever the point is.',
  position: 'The position on this map gives the regime its name.',
};

const measuredPrefix = 'diagnostics/';
/** The setting's title in the form for a new run. */
const diagnosticsEvery = settingFacts('diagnostics.every').title;

interface RegimeMapProps {
  map: Regimes;
  /** Tone of the state. It colors the region of the regime, so that the map and the state never disagree. */
  tone: Tone;
  /** Whether a run with the same configuration could measure the dependence. */
  measurable: boolean;
}

/** Plots the run's entropy against how much its reasoning depends on the level, with its trail. */
export function RegimeMap({ map, tone, measurable }: RegimeMapProps) {
  const { regime, position, trail, cross, series } = map;
  if (!position && trail.length === 0) return <NoData />;
  const scale = scaleOf(map);
  const current = position ?? trail.at(-1)!;
  const split = scale({ iteration: 0, ...cross });
  // A regime that the state or the signals name applies anywhere on the map.
  const anywhere = map.namedBy !== 'position';
  return (
    <figure className={styles.map} data-tone={tone} aria-label="Regime map">
      <div className={styles.plot} data-regime={anywhere ? regime : undefined}>
        {quadrants.map((quadrant) => {
          const own = regimeIn(quadrant, cross);
          return (
            <span
              key={own}
              className={`${styles.region} muted small`}
              data-region={own}
              data-here={(!anywhere && own === regime) || undefined}
              style={{
                left: quadrant.column === 0 ? 0 : `${split.x}%`,
                right: quadrant.column === 0 ? `${100 - split.x}%` : 0,
                top: quadrant.row === 0 ? 0 : `${split.y}%`,
                bottom: quadrant.row === 0 ? `${100 - split.y}%` : 0,
              }}
            >
              {regimeLabels[own === 'unknown' && map.namedBy === 'state' ? 'healthy' : own].word}
            </span>
          );
        })}
        <Trail points={trail.map(scale)} />
        <span
          className={styles.here}
          style={{ left: `${scale(current).x}%`, top: `${scale(current).y}%` }}
          title={describe(current)}
        />
      </div>
      <span className={`${styles.upwards} faint small`} aria-hidden="true">
        entropy →
      </span>
      <span className={`${styles.rightwards} faint small`} aria-hidden="true">
        dependence on the level →
      </span>
      <figcaption>
        <strong>{regimeLabels[regime].word}</strong>
        {regime !== 'healthy' && `: ${regimeLabels[regime].meaning}`}. {namedByTexts[map.namedBy]}{' '}
        <span>{describe(current)}</span>
        <span className="visually-hidden">{describeStart(trail)}</span>
        {!series.dependence.startsWith(measuredPrefix) && (
          <span className="faint">
            {' '}
            Dependence is estimated from the {metricInSentence(series.dependence)}.
            {measurable && ` To measure it in a new run or a fork, set “${diagnosticsEvery}” to 5.`}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function NoData() {
  return (
    <div className={`${styles.none} muted small`} role="note" aria-label="Regime map">
      <p className={styles.noneTitle}>No data</p>
      <p>The map needs entropy and reasoning metrics. It appears after a few iterations of a run with reasoning.</p>
    </div>
  );
}

interface Point {
  /** Percent from the left and from the top. */
  x: number;
  y: number;
}

/** Returns a function that maps a point to its position in the plot. Each axis starts at 0 and has a margin above the largest value. */
function scaleOf({ position, trail, cross }: Regimes): (point: RegimePoint) => Point {
  const all = [...trail, ...(position ? [position] : [])];
  const right = Math.max(1, 1.3 * cross.dependence, ...all.map(({ dependence }) => dependence)) * 1.05;
  const top = Math.max(1, 1.3 * cross.entropy, ...all.map(({ entropy }) => entropy)) * 1.08;
  const within = (share: number) => Math.min(98, Math.max(2, share * 100));
  return ({ dependence, entropy }) => ({ x: within(dependence / right), y: within(1 - entropy / top) });
}

/** Draws the trail; older segments are fainter. */
function Trail({ points }: { points: Point[] }) {
  return (
    <svg className={styles.trail} viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      {inOrder(points.slice(1), ({ x, y }, index) => {
        const from = points[index]!;
        return <line x1={from.x} y1={from.y} x2={x} y2={y} opacity={0.15 + (0.75 * (index + 1)) / points.length} />;
      })}
    </svg>
  );
}

const share = (value: number) => `${Math.round(value * 100)} %`;

const describe = ({ iteration, entropy, dependence }: RegimePoint) =>
  `Iteration ${iteration}: entropy ${share(entropy)} of its initial value, dependence ${share(dependence)} of its maximum.`;

function describeStart(trail: readonly RegimePoint[]): string {
  const first = trail[0];
  return first && trail.length > 1 ? ` Started at ${describe(first).replace(/^I/, 'i')}` : '';
}
