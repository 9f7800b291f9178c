import type { ExportFormat } from '../../core/contract/contract.ts';

interface Format {
  format: ExportFormat;
  title: string;
  /** Description of the content. */
  text: string;
  /** Whether the page can show and copy it. */
  isText?: boolean;
  /** Whether it exports a single checkpoint. */
  ofCheckpoint?: boolean;
}

interface FormatGroup {
  title: string;
  formats: Format[];
}

/** Returns the export formats of a run. An imported run has only metrics. */
export const formatGroupsOf = (task: string) => (task === 'imported' ? formatGroups.slice(0, 1) : formatGroups);

const formatGroups: readonly FormatGroup[] = [
  {
    title: 'Metrics',
    formats: [
      {
        format: 'csv',
        title: 'CSV',
        text: 'One row per iteration, one column per metric. For spreadsheets.',
      },
      {
        format: 'jsonl',
        title: 'JSON lines',
        text: 'One line per iteration with all metrics. For scripts.',
      },
      {
        format: 'tensorboard',
        title: 'TensorBoard',
        text: 'An event file with every metric.',
      },
    ],
  },
  {
    title: 'Episodes',
    formats: [
      {
        format: 'parquet',
        title: 'Parquet',
        text: 'Two tables: episodes with their conversations, and every sampled token with its log-probability, entropy, advantage and value.',
      },
      {
        format: 'traces',
        title: 'Traces',
        text: "One JSON line per episode in the format of verifiers' traces: messages with exact token ids, log-probabilities and advantages.",
      },
    ],
  },
  {
    title: 'Model',
    formats: [
      {
        format: 'hugging-face',
        title: 'Hugging Face folder',
        text: 'Weights, tokenizer and a model card with training data, results, intervals, license and limits. Loads in transformers.',
        ofCheckpoint: true,
      },
    ],
  },
  {
    title: 'For a paper',
    formats: [
      {
        format: 'methods',
        title: 'Methods paragraph',
        text: 'Describes the training method, with references.',
        isText: true,
      },
      {
        format: 'markdown',
        title: 'Results, Markdown',
        text: "Success rate of the run's own evaluations, with intervals.",
        isText: true,
      },
      {
        format: 'latex',
        title: 'Results, LaTeX',
        text: 'The same table for booktabs.',
        isText: true,
      },
      {
        format: 'panels',
        title: 'Evaluation panels',
        text: 'The levels of the evaluations, one file per panel. The SHA-256 of a file is the hash of its panel.',
      },
    ],
  },
];

export type { Format };
