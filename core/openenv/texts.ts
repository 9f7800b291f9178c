import { z } from 'zod';
import { type Manifest, valueAt } from './manifest.ts';

type Observation = Record<string, unknown>;

/** Returns the text that the model sees. */
export function textOf(observation: Observation, { text }: Manifest): string {
  if (text === undefined) return JSON.stringify(observation);
  return [text]
    .flat()
    .map((path) => shown(valueAt(observation, path)))
    .join('\n');
}

/** Returns the text without its prefix `previous`, or the whole text if it does not begin with it. */
export const newPart = (text: string, previous: string): string =>
  text.startsWith(previous) ? text.slice(previous.length) : text;

/** Returns a board: a string as it is, or rows of cells with equal width. */
export function boardOf(observation: Observation, { board }: Manifest): string | null {
  const value = board === undefined ? undefined : valueAt(observation, board);
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) return shown(value);
  const rows = value.map((row) => (Array.isArray(row) ? row.map(shown) : [shown(row)]));
  const width = Math.max(...rows.flat().map(({ length }) => length));
  return rows.map((row) => row.map((cell) => cell.padStart(width)).join(width > 1 ? ' ' : '')).join('\n');
}

export const anchorOf = (observation: Observation, { anchor }: Manifest): string | null =>
  anchor ? JSON.stringify(anchor.map((path) => valueAt(observation, path) ?? null)) : null;

/** Returns the names of legal actions; null if the manifest or the observation names none. */
export function legalActions(observation: Observation, { actions }: Manifest): string[] | null {
  const values = actions === undefined ? undefined : valueAt(observation, actions);
  return Array.isArray(values) && values.length > 0 ? values.map(shown) : null;
}

const toolAnswer = z.object({
  result: z.unknown(),
  error: z.object({ error_type: z.string(), message: z.string() }).nullish(),
});
const library = z.object({ data: z.unknown(), content: z.array(z.object({ text: z.string() })).optional() });

/** Returns the text of a tool's answer, and whether the call was valid. */
export function toolText(observation: Observation): { text: string; valid: boolean } {
  const { result, error } = toolAnswer.catch({ result: observation, error: null }).parse(observation);
  const isInvalid = ['tool_not_found', 'invalid_args'].includes(error?.error_type ?? '');
  if (error) return { text: `Error: ${error.message}`, valid: !isInvalid };
  const { data, content } = library.catch({ data: result }).parse(result);
  return { text: shown(data ?? content?.map(({ text }) => text).join('\n') ?? result), valid: true };
}

/** Returns the list of tools for the first observation. */
export const toolList = ({ tools }: Observation): string =>
  `Tools, one per turn. Answer with {"tool_name": ..., "arguments": {...}}.\n${z
    .array(z.looseObject({}))
    .parse(tools)
    .map((tool) => JSON.stringify(tool))
    .join('\n')}`;

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
