import { constants } from 'node:os';
import { styleText } from 'node:util';
import { pasteable } from '../base/pasteable.ts';
import type { AlertAction, RunSummary } from '../contract/contract.ts';
import { asFailure } from '../contract/failure.ts';
import { percent } from '../contract/numbers.ts';
import { panelHashes } from '../contract/panel-words.ts';
import { evaluatedLabel } from '../contract/run-facts.ts';
import { lastSignal } from './signals.ts';

/** Error codes that mean invalid input: exit status 2. */
const inputCodes = new Set([
  'usage_invalid',
  'input_invalid',
  'config_invalid',
  'config_unreadable',
  'config_unsupported',
  'config_version_unsupported',
  'preset_unknown',
  'run_unknown',
  'run_unreadable',
  'run_ambiguous',
  'environment_unknown',
  'directory_missing',
  'catalogue_missing',
  'catalogue_ambiguous',
  'catalogue_invalid',
  'checkpoint_missing',
  'checkpoint_pruned',
  'checkpoint_corrupt',
  'evaluation_exists',
  'evaluation_name_invalid',
  'run_folder_invalid',
  'study_invalid',
  'target_unknown',
  'targets_invalid',
  'study_ambiguous',
  'study_unknown',
  'study_unreadable',
  'model_missing',
  'labeled_runs_missing',
  'labeled_run_invalid',
  'thresholds_invalid',
  'run_imported',
  'export_unsuitable',
  'export_exists',
  'import_unreadable',
  'bundle_invalid',
  'bundle_version_unsupported',
  'bundle_exists',
  'trash_unknown',
  'trash_ambiguous',
  'import_too_large',
  'import_empty',
  'import_malformed',
  'import_no_step',
  'import_step_invalid',
  'import_no_metric',
  'import_not_numeric',
  'import_not_a_share',
  'import_run_unknown',
]);

/** Colors a string on a terminal, unless NO_COLOR is set. */
export const paint = (color: 'red' | 'yellow', text: string, stream: NodeJS.WritableStream) =>
  styleText(color, text, { stream });

/** Returns a string with control characters, except tabs and newlines, as JSON escapes, so that texts of imported runs can't control the terminal. */
export const printable = (text: string) =>
  text.replace(/[^\P{Cc}\t\n]/gu, (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`);

/** Prints a warning to stderr. */
export const warn = (text: string) =>
  void process.stderr.write(`${paint('yellow', 'warning:', process.stderr)} ${printable(pasteable(text))}\n`);

/** Prints an error, its hint and its code to stderr, with `json` as one line, and sets the exit code; see {@link exitCodes}. */
export function reportFailure(error: unknown, { json }: { json: boolean }): void {
  const failure = asFailure(error);
  const { code } = failure;
  const message = printable(pasteable(failure.message));
  const hint = printable(pasteable(failure.hint));
  const stack = code === 'internal' && error instanceof Error ? error.stack : undefined;
  if (json) process.stderr.write(`${JSON.stringify({ code, message, hint, stack })}\n`);
  else {
    const title = paint('red', 'error:', process.stderr);
    process.stderr.write(`${title} ${message}\n  hint: ${hint}\n  details: ${code}\n`);
  }
  if (stack !== undefined && !json) process.stderr.write(`${stack}\n`);
  process.exitCode = canceledCodes.has(code) ? stoppedExitCode() : inputCodes.has(code) ? 2 : 1;
}

const canceledCodes = new Set(['task_canceled', 'evaluation_canceled']);

/** Returns the exit code of a command whose work was stopped: that of its signal, as in a shell, or 1 if another client stopped it. */
export function stoppedExitCode(): number {
  const signal = lastSignal();
  return signal === null ? 1 : 128 + constants.signals[signal];
}

/** Sets the exit code of a command that a signal ended. */
export function exitStopped(): void {
  process.exitCode = stoppedExitCode();
}

export const exitCodes: readonly { code: number; meaning: string }[] = [
  { code: 0, meaning: 'success' },
  {
    code: 1,
    meaning:
      'the command or its run failed, or another client, an automatic action or an early stop ended the run; `doctor` or `env check` found a problem',
  },
  { code: 2, meaning: 'invalid input: an unknown command, option, run or preset, an invalid setting or file' },
  {
    code: 130,
    meaning: 'canceled by Ctrl+C (SIGINT); `train`, `resume` and `extend` stop the run with a checkpoint first',
  },
  { code: 143, meaning: 'terminated by SIGTERM; `train`, `resume` and `extend` stop the run with a checkpoint first' },
];

export const print = (text: string) => void process.stdout.write(`${printable(text)}\n`);

/** Prints a string with commands to run, in backticks, as they work when pasted. */
export const advise = (text: string) => print(pasteable(text));

/** `42 s`, `5 min`, `2 h 10 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats the success rates in the metrics of an evaluation or a run summary. */
export function successLine(metrics: Record<string, number>): string {
  return Object.entries(metrics)
    .flatMap(([name, value]) => {
      const label = evaluatedLabel(name);
      return label ? `${label} ${percent(value)}` : [];
    })
    .join(', ');
}

export const actionText = ({ message, fork }: AlertAction) =>
  fork === null ? message : `${message} Continued in ${fork}.`;

/** Formats an `iteration` event as one line. */
export function iterationLine(iteration: number, iterations: number, metrics: Record<string, number>): string {
  const number = (name: string, digits: number) => metrics[name]?.toFixed(digits);
  const facts: [string, string | undefined][] = [
    ['success', percent(metrics['rollout/success_rate']) || undefined],
    ['reward', number('rollout/reward_mean', 3)],
    ['reward std (in-group)', number('rollout/reward_std_in_group', 3)],
    ['entropy', number('rollout/entropy', 3)],
    ['loss', number('warm_start/loss', 4)],
    ['gradient norm', number('actor/grad_norm', 3)],
  ];
  const shown = facts.filter(([, value]) => value !== undefined).map(([name, value]) => `${name} ${value}`);
  const seconds = number('time/iteration', 1);
  if (seconds !== undefined) shown.push(`${seconds} s`);
  return `iteration ${iteration}/${iterations}  ${shown.join('  ')}`;
}

/** Formats rows as aligned columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const runHeadings = [
  'RUN',
  'STATUS',
  'ITERATION',
  'SUCCESS',
  'PANEL',
  'ECHO TRAP',
  'CREATED (UTC)',
  'TAGS',
  'ID',
];

/** Returns one row under {@link runHeadings}. */
export function runRow(run: RunSummary): string[] {
  return [
    run.name,
    run.stalled ? `${run.status}, STALLED` : run.status,
    `${run.iteration}/${run.iterations}`,
    successLine(run.latest),
    panelHashes(run.panels),
    run.trap === null || run.trap.state === 'healthy' ? '' : run.trap.state,
    new Date(run.createdAt).toISOString().slice(0, 16).replace('T', ' '),
    [...(run.marks.starred ? ['*'] : []), ...run.marks.tags].join(' '),
    run.id,
  ];
}
