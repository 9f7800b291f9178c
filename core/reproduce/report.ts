import type { RunSummary } from '../contract/contract.ts';
import { count, percent } from '../contract/numbers.ts';
import { wilson } from '../echo-trap/score.ts';
import { differenceOf, type Measured, measured, type RunResult, type Verdict, verdictOf } from './measure.ts';
import type { Block } from './page.ts';
import { type Claim, type Measure, type PaperNumber, type PaperStudy, type Place, sweepsOf } from './paper-study.ts';

/** The state of a sweep and its completed runs. */
export interface SweepResult {
  /** Id of the sweep in the data folder. */
  id: string;
  completed: number;
  total: number;
  failed: number;
  /** Completed runs by the setting's name. */
  runs: ReadonlyMap<string, readonly RunResult[]>;
  /** Labels and short hashes of the evaluation panels. */
  panels: readonly string[];
  /** Last trainer of each completed run. */
  trainers: readonly RunTrainer[];
}

/** Device and build of a run's trainer. */
type RunTrainer = Pick<NonNullable<RunSummary['machine']>, 'device' | 'name' | 'build'>;

export interface ReportFacts {
  title: string;
  /** Command without options that select studies. */
  command: string;
  date: string;
  version: string;
  model: string;
  quick: boolean;
  /** Titles of sweeps by their id in the paper. */
  sweeps: ReadonlyMap<string, string>;
}

/** Results by the sweep's id in the paper; sweeps that do not exist yet are absent. */
export type Results = ReadonlyMap<string, SweepResult>;

const unmeasured = 'not measured';

/** Returns the report of all studies. */
export function reportBlocks(facts: ReportFacts, studies: readonly PaperStudy[], results: Results): Block[] {
  const tested = studies.map((study) => ({ study, claims: testedClaims(study, results) }));
  const all = tested.flatMap(({ study, claims }) => claims.map((claim) => ({ ...claim, study })));
  const against = all.filter(({ verdict }) => verdict === 'disagrees');
  const withVerdict = (claims: readonly { verdict: Verdict }[], verdict: Verdict) =>
    String(claims.filter((claim) => claim.verdict === verdict).length);
  const quick =
    'This is the quick version, in which most settings train on 1/200 of the episodes. It checks that every study runs; its results are not meaningful.';
  return [
    { heading: facts.title, level: 1 },
    ...(facts.quick ? [{ text: quick }] : []),
    {
      facts: [
        ['Model', facts.model],
        ['Devices', numbersOfRuns(results, ({ device, name }) => name ?? device)],
        ['Trainers', numbersOfRuns(results, ({ build }) => build ?? 'unknown')],
        ['Version', facts.version],
        ['Date', facts.date],
        [
          'Intervals',
          "95 %: over seeds (Student's t) if there are at least three; over the levels of the evaluation (Wilson) for a single run; none for two seeds. Numbers in the paper have Wilson intervals over its 256 prompts.",
        ],
        [
          'Verdicts',
          'A claim agrees if the whole interval of the difference is above 0, disagrees if it is below 0, and is undecided otherwise. The best of several evaluations is higher than the expected value by chance.',
        ],
      ],
    },
    {
      head: ['Study', 'Runs completed', 'Agrees', 'Disagrees', 'Undecided', 'Not measured'],
      rows: tested.map(({ study, claims }) => [
        study.title,
        completion(sweepsOf(study), results),
        ...(['agrees', 'disagrees', 'undecided', 'not measured'] as const).map((verdict) =>
          withVerdict(claims, verdict),
        ),
      ]),
    },
    { heading: 'What disagrees', level: 2 },
    against.length > 0
      ? {
          list: against.map(
            ({ study, claim, text }) => `${study.title}. ${claim.text} Here the difference is ${text}.`,
          ),
        }
      : { text: 'No claim disagrees.' },
    ...tested.flatMap(({ study, claims }) => studyBlocks(facts, study, claims, results)),
  ];
}

/** Returns values of the runs' trainers with their numbers of runs: `NVIDIA H200 (102 runs), AMD EPYC (9 runs)`. */
function numbersOfRuns(results: Results, show: (trainer: RunTrainer) => string): string {
  const trainers = [...results.values()].flatMap((result) => result.trainers);
  const groups = [...Map.groupBy(trainers, show)].sort(([, a], [, b]) => b.length - a.length);
  return groups.map(([value, { length }]) => `${value} (${count(length, 'run')})`).join(', ') || 'not trained yet';
}

function completion(sweeps: readonly string[], results: Results): string {
  const found = sweeps.flatMap((id) => results.get(id) ?? []);
  const sum = (of: (result: SweepResult) => number) => found.reduce((total, each) => total + of(each), 0);
  const failed = sum((result) => result.failed);
  const text = `${sum(({ completed }) => completed)} of ${sum(({ total }) => total)}`;
  return failed > 0 ? `${text}, ${failed} failed` : text;
}

interface TestedClaim {
  claim: Claim;
  verdict: Verdict;
  text: string;
}

function studyBlocks(facts: ReportFacts, study: PaperStudy, claims: readonly TestedClaim[], results: Results): Block[] {
  const ids = sweepsOf(study).flatMap((sweep) => results.get(sweep)?.id ?? []);
  const panels = [...new Set(sweepsOf(study).flatMap((sweep) => results.get(sweep)?.panels ?? []))];
  const groups = Map.groupBy(study.rows, ({ columns }) => columns.map(({ title }) => title).join('\n'));
  return [
    { heading: study.title, level: 2 },
    {
      facts: [
        ['Question', study.question],
        ['Held constant', study.constant],
        ['Evaluation panels', panels.join(', ') || 'no evaluation yet'],
        ...(study.missing.length > 0 ? [['Not included', study.missing.join(' ')] as [string, string]] : []),
      ],
    },
    { commands: [`${facts.command} --only ${study.id}`, ...ids.map((id) => `starpo sweep show ${id}`)] },
    ...[...groups.values()].map((rows): Block => {
      const titles = rows[0]!.columns.map(({ title }) => title);
      const quoted = titles.filter((title) => rows.some(({ paper }) => paper?.[title] !== undefined));
      return {
        head: [
          ...['Sweep', 'Setting', 'Runs'],
          ...titles.flatMap((title) => (quoted.includes(title) ? [title, `${title}, paper`] : [title])),
        ],
        rows: rows.map(({ sweep, point, columns, paper }) => {
          const runs = runsAt(results, { sweep, point });
          const cells = columns.flatMap(({ title, measure }) => [
            ownText(runs, measure),
            ...(quoted.includes(title) ? [paperText(paper?.[title])] : []),
          ]);
          return [facts.sweeps.get(sweep) ?? sweep, point, String(runs.length), ...cells];
        }),
      };
    }),
    {
      head: ['Claim in the paper', 'Difference here', 'Verdict'],
      rows: claims.map(({ claim, text, verdict }) => [claim.text, text, verdict]),
    },
  ];
}

const runsAt = (results: Results, { sweep, point }: Place): readonly RunResult[] =>
  results.get(sweep)?.runs.get(point) ?? [];

/** Tests every claim of a study. */
export function testedClaims(study: PaperStudy, results: Results): TestedClaim[] {
  return study.claims.map((claim) => {
    const difference = differenceOf(runsAt(results, claim.higher), runsAt(results, claim.lower), claim);
    const verdict = verdictOf(difference);
    if (!difference) return { claim, verdict, text: unmeasured };
    const { show, unit } = differenceWords(claim.measure);
    const { mean, low, high } = difference;
    const interval =
      low === null || high === null ? 'no interval with fewer than three seeds' : `${show(low)} to ${show(high)}`;
    return { claim, verdict, text: `${show(mean)} ${unit} (${interval})` };
  });
}

function differenceWords(measure: Measure): { show: (value: number) => string; unit: string } {
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
  if ('metric' in measure && measure.unit === 'tokens') return { show: signed, unit: 'tokens' };
  return { show: (value) => signed(value * 100), unit: 'percentage points' };
}

function ownText(runs: readonly RunResult[], measure: Measure): string {
  if ('collapsed' in measure) return collapsedText(runs);
  const result = measured(runs, measure);
  if (!result) return unmeasured;
  return valueText(result, 'metric' in measure && measure.unit === 'tokens' ? (value) => value.toFixed(1) : percent);
}

function valueText(
  { mean, low, high }: Pick<Measured, 'mean' | 'low' | 'high'>,
  show: (value: number) => string,
): string {
  return low === null || high === null ? show(mean) : `${show(mean)} (${show(low)} to ${show(high)})`;
}

function collapsedText(runs: readonly RunResult[]): string {
  const long = runs.filter(({ collapsed }) => collapsed !== undefined);
  if (long.length === 0) return runs.length === 0 ? unmeasured : `${unmeasured}: too few iterations`;
  const onsets = long.flatMap(({ collapsed }) => collapsed ?? []).sort((a, b) => a - b);
  const { low, high } = wilson(onsets.length, long.length);
  const from = onsets.length > 0 ? `, at iterations ${onsets.join(', ')}` : '';
  return `${onsets.length} of ${long.length} (${percent(low)} to ${percent(high)})${from}`;
}

/** Returns a number of the paper with its 95 % interval. */
export function paperText(number: PaperNumber | undefined): string {
  if (number === undefined) return 'curve only';
  if (typeof number === 'string') return number;
  return valueText({ mean: number.share, ...wilson(number.share * number.n, number.n) }, percent);
}
