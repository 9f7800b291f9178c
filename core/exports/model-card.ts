import product from '../../package.json' with { type: 'json' };
import type { RunSummary } from '../contract/contract.ts';
import { knownWord } from '../contract/open-words.ts';
import { shortHash } from '../contract/panel-words.ts';
import { listWithAnd } from '../contract/sentence.ts';
import { evaluationChanges } from '../evaluations/target.ts';
import { typeTitle } from '../presets/environment-words.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { firstIteration } from '../run-config/start.ts';
import type { EvaluationResult } from '../run-directory/evaluations.ts';
import { markdownText, yamlText } from './escape.ts';
import { areUnseen, methodsText, ownLevels, samplingText, trainedEnvironments, unseenSeeds } from './methods.ts';
import { type Origin, parentCheckpoint } from './origin.ts';
import type { RunRecord } from './record.ts';
import { evaluatedLabels, markdownTable, successText } from './tables.ts';

interface CardFacts {
  summary: Pick<RunSummary, 'name' | 'trap'>;
  config: RunConfig;
  checkpoint: number;
  origin: Origin;
  record: RunRecord;
  /** Requested evaluations of this checkpoint. */
  evaluations: readonly EvaluationResult[];
}

/** Returns the model card (README.md): results with intervals, training, limitations and license. */
export function modelCard(facts: CardFacts): string {
  const { summary, config, checkpoint, origin } = facts;
  return `${[
    frontMatter(origin),
    `# ${markdownText(summary.name)}, iteration ${checkpoint}`,
    `A policy for ${markdownText(tasks(config))}${history(facts)} with StarPO Studio ${product.version}. It reads a state as text and responds with ${config.rollout.think ? 'reasoning and an answer' : 'an answer'}. It is not a general assistant.`,
    '## Results',
    results(facts),
    '## Training',
    markdownText(methodsText(config, origin, upTo(facts))),
    '`run.json` has all settings; folder paths are shortened to their last part.',
    '## Limitations',
    limits(facts),
    '## License',
    license(origin),
  ].join('\n\n')}\n`;
}

function frontMatter({ license, repository }: Origin): string {
  return [
    '---',
    `license: ${license?.id ?? 'unknown'}`,
    'library_name: transformers',
    'pipeline_tag: text-generation',
    'tags: ["reinforcement-learning", "agents", "starpo"]',
    ...(repository === null ? [] : [`base_model: ${yamlText(repository)}`]),
    '---',
  ].join('\n');
}

const link = ({ name, repository }: Origin) =>
  repository === null ? markdownText(name) : `[${markdownText(name)}](https://huggingface.co/${repository})`;

const tasks = (config: RunConfig) =>
  listWithAnd([...new Set(trainedEnvironments(config).map(({ label }) => typeTitle(label)))]);

/** Returns how the policy was made. */
function history({ config, checkpoint, origin }: CardFacts): string {
  if (checkpoint === 0) {
    const parent = parentCheckpoint(config);
    if (parent === null) return `: ${link(origin)} before training`;
    return `: ${parent}${parent === origin.name ? '' : `, trained from ${link(origin)},`}`;
  }
  const demonstrations = config.task === 'warm_start';
  return `, trained from ${link(origin)} ${demonstrations ? "on a solver's demonstrations" : 'by reinforcement learning'}`;
}

const upTo = ({ record: { points, started, panels }, checkpoint }: CardFacts) => ({
  started,
  panels,
  points: points.filter(({ iteration }) => iteration <= checkpoint),
});

/** Returns evaluation results of the checkpoint, compared with the start of the run. */
function results({ config, record: { points, panels }, checkpoint, evaluations }: CardFacts): string {
  const at = points.find(({ iteration }) => iteration === checkpoint)?.values ?? {};
  const first = points[0]?.values ?? {};
  const own = evaluatedLabels(at).map((label) => [
    typeTitle(label),
    `${config.evaluation.levels}${panelText(panels.find((each) => each.label === label)?.hash)}`,
    samplingText({ ...config.rollout, temperature: config.evaluation.temperature }),
    checkpoint === points[0]?.iteration ? '–' : successText(first, label),
    successText(at, label),
  ]);
  const requested = evaluations.map(({ environment, levels, seed, panel, metrics, ...sampling }) => [
    `${typeTitle(environment.label)} (${['requested', ...evaluationChanges(config, { environment, seed })].join(', ')})`,
    `${levels}${panelText(panel)}`,
    samplingText(sampling),
    '–',
    successText(metrics, environment.label),
  ]);
  if (own.length + requested.length === 0) return 'This checkpoint was not evaluated.';
  const unseen = [...(own.length > 0 ? [ownLevels(config)] : []), ...evaluations].every((each) =>
    areUnseen(config, each),
  );
  return markdownTable({
    caption: `Success on fixed levels${unseen ? ` ${unseenSeeds}` : ''}, with the 95 % Wilson interval over levels. One run with one seed; the interval does not cover variation between seeds.`,
    head: ['Environment', 'Levels', 'Sampling', startTitle(config, points[0]?.iteration ?? 0), 'This checkpoint'],
    rows: [...own, ...requested],
  }).trimEnd();
}

const startTitle = (config: RunConfig, first: number) =>
  parentCheckpoint(config) === null ? 'Before training' : `At the start of this run (iteration ${first})`;

const panelText = (hash: string | null | undefined) => (hash ? ` (panel ${shortHash(hash)})` : '');

const trapReports: Readonly<Record<string, string>> = {
  locked: 'that learning has stopped',
  narrowing: 'a loss of variety in the reasoning',
  watch: 'early signals of collapse',
  warning: 'a high risk of collapse',
  collapsing: 'a collapse in progress',
  collapsed: 'that the run has collapsed',
};

function limits({ config, summary: { trap }, checkpoint }: CardFacts): string {
  const warning =
    trap !== null && !['healthy', 'solved', 'unmeasured'].includes(trap.state) && trap.since <= checkpoint
      ? [
          `Since iteration ${trap.since}, the Echo Trap monitor has reported ${knownWord(trapReports, trap.state) ?? `"${trap.state}"`}.${config.rollout.think ? ' The reasoning might not depend on the state.' : ''}`,
        ]
      : [];
  return [
    checkpoint <= firstIteration(config)
      ? 'This run did not train the model. Tasks and prompts are untested unless listed above.'
      : `This run trained the model only on ${markdownText(tasks(config))}, with the prompts of its configuration. Other tasks, sizes and prompts are untested unless listed above.`,
    ...(config.rollout.think ? ['Its reasoning is not a reliable explanation: it may contradict the action.'] : []),
    ...warning,
    'The model was not tested for safety, bias or use outside its training environments.',
  ]
    .map((line) => `- ${line}`)
    .join('\n');
}

function license(origin: Origin): string {
  if (origin.license === null)
    return `Unknown. The weights derive from ${markdownText(origin.name)}, whose license applies. Check it before publishing.`;
  return `${origin.license.title}. The weights derive from ${link(origin)}.`;
}
