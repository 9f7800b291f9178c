import type { HumanSuccess } from '../../core/contract/contract.ts';
import { percent } from '../components/format.ts';
import { environmentOf } from '../environments/registry.ts';
import type { SeriesSource } from './series-source.ts';

/** A height to compare with, drawn across a chart. */
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

/** What the paper trained: no other model is held against it. */
const paperModel = /Qwen2\.5-0\.5B(-Instruct)?\/?$/;

/**
 * What a share of success is to be held against: the policy before training, chance, a person who played its levels, and the best that there is to reach, the RAGEN paper's
 * result for the same model and rules, each where it is known. With several environments none is drawn, since a line would not say of which it is.
 */
export function successReferences(
  config: unknown,
  source: SeriesSource,
  people: readonly HumanSuccess[] = [],
): Reference[] {
  const environment = environmentIn(config);
  if (!environment) return [];
  const untrained = source.get(`evaluation/${environment.label}/success_rate`)?.at(0);
  const you = people.find((person) => person.environment === environment.label);
  return [
    ...(untrained === undefined ? [] : [lineOf('untrained', untrained)]),
    ...boundsOf(environment),
    ...(you ? [lineOf('You', you.successes / you.levels)] : []),
    ...paperOf(environment, config),
  ];
}

/** What the success of several runs is to be held against: the lines that hold for each of them, so not what one of them or a person did. */
export function sharedReferences(configs: readonly unknown[]): Reference[] {
  const [first = [], ...others] = configs.map((config) => {
    const environment = environmentIn(config);
    return environment ? [...boundsOf(environment), ...paperOf(environment, config)] : [];
  });
  return first.filter(({ label }) => others.every((lines) => lines.some((line) => line.label === label)));
}

/** The one that is trained; undefined where there are several. */
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

const lineOf = (name: string, value: number): Reference => ({ value, label: `${name} ${percent(value)}` });

const modelOf = (config: unknown): string =>
  (config as { start?: { model?: string } } | null)?.start?.model ?? '';
