import type { ExportFormat } from '../../core/contract/contract.ts';

interface Format {
  format: ExportFormat;
  title: string;
  /** What is in it. */
  text: string;
  /** Shown on the page, to be copied. */
  isText?: boolean;
  /** It is about one checkpoint. */
  ofCheckpoint?: boolean;
}

interface FormatGroup {
  title: string;
  formats: Format[];
}

/** What a run can be exported as, for whom. */
export const formatGroups: readonly FormatGroup[] = [
  {
    title: 'Metrics',
    formats: [
      { format: 'csv', title: 'CSV', text: 'A row an iteration, a column a metric. For spreadsheets.' },
      {
        format: 'jsonl',
        title: 'JSON lines',
        text: 'A line an iteration with all its metrics. For scripts.',
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
    ],
  },
  {
    title: 'Model',
    formats: [
      {
        format: 'hugging-face',
        title: 'Hugging Face folder',
        text: 'The weights, the tokenizer and a model card with what it was trained on, its results and their intervals, licence and limits. transformers loads it.',
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
        text: 'How it was trained, in sentences with references.',
        isText: true,
      },
      {
        format: 'markdown',
        title: 'Results, Markdown',
        text: 'Success of every evaluation with its interval.',
        isText: true,
      },
      {
        format: 'latex',
        title: 'Results, LaTeX',
        text: 'The same table, for booktabs.',
        isText: true,
      },
    ],
  },
];

export type { Format };
