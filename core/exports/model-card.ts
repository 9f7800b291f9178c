import product from '../../package.json' with { type: 'json' };
import type { RunSummary } from '../contract/contract.ts';
import { typeTitle } from '../presets/environment-words.ts';
import type { RunConfig } from '../run-config/schema.ts';
import type { EvaluationResult } from '../run-directory/evaluations.ts';
import { markdownText, yamlText } from './escape.ts';
import { fixedLevels, methodsText } from './methods.ts';
import type { Origin } from './origin.ts';
import type { RunRecord } from './record.ts';
import { evaluatedLabels, markdownTable, successText } from './tables.ts';

export interface CardFacts {
  summary: Pick<RunSummary, 'name' | 'trap'>;
  config: RunConfig;
  checkpoint: number;
  origin: Origin;
  record: RunRecord;
  /** Evaluations of this checkpoint that were asked for. */
  evaluations: readonly EvaluationResult[];
}

/** The README.md of a model: what it was trained on, what was measured and how sure that is, its licence, and what nobody knows of it. */
export function modelCard(facts: CardFacts): string {
  const { summary, config, checkpoint, origin } = facts;
  return `${[
    frontMatter(origin),
    `# ${markdownText(summary.name)}, iteration ${checkpoint}`,
    `A policy for ${markdownText(tasks(config))} that began as ${link(origin)} and was trained by reinforcement learning with StarPO Studio ${product.version}. It reads a state as text and replies with ${config.rollout.think ? 'a thought and an answer' : 'an answer'}; it is no general assistant.`,
    '## Results',
    results(facts),
    '## Training',
    markdownText(methodsText(config, origin, upTo(facts))),
    '`run.json` has every setting; the folders in it are named by their last part.',
    '## Limits',
    limits(facts),
    '## Licence',
    licence(origin),
  ].join('\n\n')}\n`;
}

function frontMatter({ licence, repository }: Origin): string {
  return [
    '---',
    `license: ${licence?.id ?? 'unknown'}`,
    'library_name: transformers',
    'pipeline_tag: text-generation',
    'tags: ["reinforcement-learning", "agents", "starpo"]',
    ...(repository === null ? [] : [`base_model: ${yamlText(repository)}`]),
    '---',
  ].join('\n');
}

const link = ({ name, repository }: Origin) =>
  repository === null ? markdownText(name) : `[${markdownText(name)}](https://huggingface.co/${repository})`;

const tasks = ({ environments }: RunConfig) =>
  [...new Set(environments.map(({ label }) => typeTitle(label)))].join(', ');

const upTo = ({ record: { points, started }, checkpoint }: CardFacts) => ({
  started,
  points: points.filter(({ iteration }) => iteration <= checkpoint),
});

/** Whether a checkpoint was evaluated, where, and how the start did there. */
function results({ config, record: { points }, checkpoint, evaluations }: CardFacts): string {
  const at = points.find(({ iteration }) => iteration === checkpoint)?.values ?? {};
  const first = points[0]?.values ?? {};
  const own = evaluatedLabels(at).map((label) => [
    typeTitle(label),
    `${config.evaluation.levels}`,
    `${config.evaluation.temperature}`,
    checkpoint === points[0]?.iteration ? '–' : successText(first, label),
    successText(at, label),
  ]);
  const asked = evaluations.map(({ environment, levels, temperature, metrics }) => [
    `${typeTitle(environment.label)}, asked for`,
    `${levels}`,
    `${temperature}`,
    '–',
    successText(metrics, environment.label),
  ]);
  if (own.length + asked.length === 0)
    return 'This checkpoint was not evaluated: nothing is known of how well it does.';
  return markdownTable({
    caption: `Success on ${fixedLevels(config)}, with the Wilson 95 % interval over levels. One run with one seed: how much another seed would differ is not in the interval.`,
    head: ['Environment', 'Levels', 'Temperature', 'Before training', 'This checkpoint'],
    rows: [...own, ...asked],
  }).trimEnd();
}

function limits({ config, summary: { trap }, checkpoint }: CardFacts): string {
  const alarmed =
    trap !== null && trap.state !== 'healthy' && trap.state !== 'solved' && trap.since <= checkpoint
      ? [
          `The run's monitor called it "${trap.state}" since iteration ${trap.since} (the Echo Trap): thoughts may say little about the state.`,
        ]
      : [];
  return [
    `It was trained on ${markdownText(tasks(config))} alone, with prompts of one form. Other tasks, sizes and wordings were not tried unless the table above names them.`,
    ...(config.rollout.think
      ? [
          'Its thoughts are not explanations: only success was rewarded, and a thought may contradict the action.',
        ]
      : []),
    ...alarmed,
    'It was not tested for safety, bias or use outside games.',
  ]
    .map((line) => `- ${line}`)
    .join('\n');
}

function licence(origin: Origin): string {
  if (origin.licence === null)
    return `Not known. The weights derive from ${markdownText(origin.name)}: its licence applies; look it up before you publish them.`;
  return `${origin.licence.title}, as ${link(origin)}, from which the weights derive.`;
}
