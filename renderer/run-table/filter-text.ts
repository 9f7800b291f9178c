import type { RunSummary } from '../../core/contract/contract.ts';
import { stateTitle } from '../../core/contract/trap-words.ts';
import { runLabel } from '../components/basics.tsx';
import { machineText, successOf } from '../components/run-facts.ts';
import { noSettings, type Settings, type SettingsByRun } from './settings.ts';

/**
 * The syntax of the filter field. All terms must match: words and "phrases" in any text of the run, /regular expressions/ in its
 * name, id or a tag, and comparisons such as lr=3e-4, success>50%, tag=baseline or clip_high!=0.2. A minus before a term negates it.
 */
export type Term = { negated: boolean } & (
  | { kind: 'text'; text: string }
  | { kind: 'pattern'; pattern: RegExp }
  | { kind: 'comparison'; key: string; operator: Operator; value: string }
);
type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=';
type Value = string | number | boolean;

interface ParsedFilter {
  terms: Term[];
  /** Error in the text, or null. */
  problem: string | null;
}

const termPattern = /-?(?:"[^"]*"|\/(?:\\.|[^/\\])+\/|[\w.:/@-]+(?:!=|<=|>=|=|<|>)(?:"[^"]*"|\S+)|\S+)/g;
const comparison = /^([\w.:/@-]+?)(!=|<=|>=|=|<|>)("[^"]*"|\S+)$/;

export function parseFilter(text: string): ParsedFilter {
  let problem: string | null = null;
  const terms = (text.match(termPattern) ?? []).flatMap((part): Term[] => {
    const negated = part.length > 1 && part.startsWith('-');
    const body = negated ? part.slice(1) : part;
    const pattern = /^\/(.+)\/$/.exec(body)?.[1];
    if (pattern !== undefined) {
      try {
        return [{ negated, kind: 'pattern', pattern: new RegExp(pattern, 'i') }];
      } catch {
        problem ??= `Invalid regular expression: ${pattern}`;
        return [];
      }
    }
    const [, key, operator, value] = comparison.exec(body) ?? [];
    if (key && operator && value)
      return [
        { negated, kind: 'comparison', key: key.toLowerCase(), operator: operator as Operator, value: unquoted(value) },
      ];
    return [{ negated, kind: 'text', text: unquoted(body).toLowerCase() }];
  });
  return { terms, problem };
}

const unquoted = (text: string) => text.replace(/^"|"$/g, '');

interface Filtered {
  runs: RunSummary[];
  problem: string | null;
}

/** Returns the matching runs. `settings` is null while loading: then comparisons with settings match no run. */
export function filterByText(runs: readonly RunSummary[], text: string, settings: SettingsByRun | null): Filtered {
  const { terms, problem } = parseFilter(text);
  const settingsOf = (run: RunSummary) => settings?.get(run.id) ?? noSettings;
  const unknown = terms.find(
    (term) =>
      term.kind === 'comparison' && settings && !runs.some((run) => valuesOf(run, settingsOf(run), term.key) !== null),
  );
  return {
    runs: runs.filter((run) => terms.every((term) => matches(run, settingsOf(run), term))),
    problem:
      problem ??
      (unknown?.kind === 'comparison' && runs.length > 0
        ? `None of the listed runs has a setting or metric “${unknown.key}”.`
        : null),
  };
}

function matches(run: RunSummary, settings: Settings, term: Term): boolean {
  return satisfies(run, settings, term) !== term.negated;
}

function satisfies(run: RunSummary, settings: Settings, term: Term): boolean {
  if (term.kind === 'text') return textOf(run).includes(term.text);
  if (term.kind === 'pattern') return [run.name, run.id, ...run.marks.tags].some((text) => term.pattern.test(text));
  const values = valuesOf(run, settings, term.key) ?? [];
  const equal = (value: Value) => isEqual(value, term.value);
  if (term.operator === '=') return values.some(equal);
  if (term.operator === '!=') return !values.some(equal);
  return values.some((value) => typeof value === 'number' && isOrdered(value, term.operator, numberOf(term.value)));
}

function isOrdered(value: number, operator: Operator, bound: number): boolean {
  if (operator === '<') return value < bound;
  if (operator === '<=') return value <= bound;
  return operator === '>' ? value > bound : value >= bound;
}

/** Compares numbers by value, so that `3e-4` equals `0.0003`, and other values by text. */
function isEqual(value: Value, text: string): boolean {
  if (typeof value === 'boolean') return (value ? ['true', 'on'] : ['false', 'off']).includes(text.toLowerCase());
  if (typeof value === 'string') return value.toLowerCase() === text.toLowerCase();
  const number = numberOf(text);
  return Math.abs(value - number) <= 1e-9 * Math.max(Math.abs(value), Math.abs(number));
}

/** Parses a number; `50%` is 0.5. */
function numberOf(text: string): number {
  const percent = /^(.+)%$/.exec(text)?.[1];
  return percent === undefined ? Number(text) : Number(percent) / 100;
}

/** Keys besides the settings and metrics. */
const facts: Record<string, (run: RunSummary) => readonly (Value | undefined)[]> = {
  name: ({ name }) => [name],
  id: ({ id }) => [id],
  tag: ({ marks }) => marks.tags,
  note: ({ marks }) => [marks.note],
  status: (run) => [run.status, runLabel(run)],
  env: ({ environments }) => environments,
  environment: ({ environments }) => environments,
  algorithm: ({ algorithm }) => [algorithm],
  preset: ({ preset }) => [preset],
  success: (run) => [successOf(run).evaluation],
  iteration: ({ iteration }) => [iteration],
  trap: ({ trap }) => (trap ? [trap.state, stateTitle(trap.state)] : []),
  sweep: ({ study }) => (study ? [study.name, study.id] : []),
};

/** Short names of settings. */
const shortNames: Record<string, string> = { lr: 'optimizer.learning_rate' };

/** Returns the values of a key; null if the run has no such fact, setting or metric. Settings and metrics can be named by their last parts. */
function valuesOf(run: RunSummary, settings: Settings, key: string): Value[] | null {
  const fact = facts[key];
  if (fact) return fact(run).filter((value) => value !== undefined);
  const path = shortNames[key] ?? key;
  const values: Value[] = [];
  for (const [each, value] of settings)
    if (value !== null && (each === path || each.endsWith(`.${path}`))) values.push(value);
  for (const [name, value] of Object.entries(run.latest))
    if (name === key || name.endsWith(`/${key}`)) values.push(value);
  return values.length > 0 ? values : null;
}

function textOf(run: RunSummary): string {
  const { id, name, preset, environments, algorithm, marks } = run;
  const texts = [name, id, preset, ...environments, algorithm, runLabel(run), ...marks.tags, marks.note];
  return [...texts, machineText(run)].join(' ').toLowerCase();
}
