import type { HumanSuccess } from '../../core/contract/contract.ts';
import { percent } from '../components/format.ts';
import { environmentOf } from '../environments/registry.ts';
import type { SeriesSource } from './series-source.ts';

/** A labeled reference line across a chart. */
export interface Reference {
  value: number;
  label: string;
}

interface Environment {
  label?: string;
  type?: string;
  config?: Record<string, unknown>;
  max_actions?: number;
}

/** The model of the RAGEN paper. Its results apply to this model only. */
const paperModel = /Qwen2\.5-0\.5B(-Instruct)?\/?$/;

/**
 * Returns the reference lines for success rates: the run's start, random actions, the user, the optimum and
 * the RAGEN paper's result for the same model and rules, if known. Returns none for several environments,
 * because a line couldn't show which one it belongs to.
 */
export function successReferences(
  config: unknown,
  source: SeriesSource,
  humans: readonly HumanSuccess[] = [],
): Reference[] {
  const environment = environmentIn(config);
  if (!environment) return [];
  const start = source.get(`evaluation/${environment.label}/success_rate`)?.at(0);
  const you = humans.find((each) => each.environment === environment.label);
  return [
    ...(start === undefined ? [] : [labeled('at start', start)]),
    ...boundsOf(environment),
    ...(you ? [labeled('You', you.successes / you.levels)] : []),
    ...paperOf(environment, config),
  ];
}

/** Returns the reference lines that apply to all runs; not those of a single run or user. */
export function sharedReferences(configs: readonly unknown[]): Reference[] {
  const [first = [], ...others] = configs.map((config) => {
    const environment = environmentIn(config);
    return environment ? [...boundsOf(environment), ...paperOf(environment, config)] : [];
  });
  return first.filter(({ label }) => others.every((lines) => lines.some((line) => line.label === label)));
}

/** Returns the run's environment; undefined if there are several. */
function environmentIn(config: unknown): Environment | undefined {
  const { environments = [] } = (config ?? {}) as { environments?: Environment[] };
  return environments.length === 1 ? environments[0] : undefined;
}

const boundsOf = ({ type = '', config = {}, max_actions = 0 }: Environment): Reference[] =>
  (environmentOf(type).bounds?.(config, max_actions) ?? []).map(({ name, success }) => ({
    value: success,
    label: `${name} ${percent(success, 0)}`,
  }));

function paperOf({ type = '', config: settings = {} }: Environment, config: unknown): Reference[] {
  const paper = paperModel.test(modelOf(config)) ? environmentOf(type).paper?.(settings) : undefined;
  return paper === undefined ? [] : [{ value: paper, label: `RAGEN paper, table 4: ${percent(paper)}` }];
}

const labeled = (name: string, value: number): Reference => ({ value, label: `${name} ${percent(value)}` });

const modelOf = (config: unknown): string => (config as { start?: { model?: string } } | null)?.start?.model ?? '';
