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
  source?: SeriesSource,
  people: readonly HumanSuccess[] = [],
): Reference[] {
  const environments = (config as { environments?: Environment[] } | null)?.environments ?? [];
  const [environment] = environments;
  if (environments.length !== 1 || !environment) return [];
  const evaluations = source?.get(`evaluation/${environment.label}/success_rate`);
  const untrained = evaluations?.at(0);
  const { type = '', config: settings = {}, max_actions: moves = 0 } = environment;
  const view = environmentOf(type);
  const bounds = view.bounds?.(settings, moves) ?? [];
  const paper = paperModel.test(modelOf(config)) ? view.paper?.(settings) : undefined;
  const you = people.find((person) => person.environment === environment.label);
  return [
    ...(untrained === undefined ? [] : [lineOf('untrained', untrained)]),
    ...bounds.map(({ name, success }) => ({ value: success, label: `${name} ${percent(success, 0)}` })),
    ...(you ? [lineOf('You', you.successes / you.levels)] : []),
    ...(paper === undefined ? [] : [{ value: paper, label: `RAGEN paper, table 4: ${percent(paper)}` }]),
  ];
}

const lineOf = (name: string, value: number): Reference => ({ value, label: `${name} ${percent(value)}` });

const modelOf = (config: unknown): string =>
  (config as { start?: { model?: string } } | null)?.start?.model ?? '';
