import type { ConfigForm, Settings } from '../../../core/contract/contract.ts';

/** Pure functions that add and remove environments in a configuration. */

/** An environment as in run.json. */
export interface EnvironmentConfig {
  label: string;
  type: string;
  share: number;
  prompt: { system: string; first: string; next: string };
  [key: string]: unknown;
}

type Addable = ConfigForm['addable'][number];

const rounded = (share: number) => Math.round(share * 1000) / 1000;

/** Adds an environment with the average share, and with a system prompt if the first environment has one. */
export function withEnvironment(list: readonly EnvironmentConfig[], added: Addable): EnvironmentConfig[] {
  const environment = added.environment as unknown as EnvironmentConfig;
  const count = list.length;
  const prompt = (list[0]?.prompt.system ? added.chatPrompt : environment.prompt) as EnvironmentConfig['prompt'];
  return [
    ...list.map((each) => ({ ...each, share: rounded((each.share * count) / (count + 1)) })),
    { ...environment, label: freeLabel(environment.label, list), share: rounded(1 / (count + 1)), prompt },
  ];
}

/** Removes an environment and distributes its share among the others. */
export function withoutEnvironment(list: readonly EnvironmentConfig[], index: number): EnvironmentConfig[] {
  const others = list.filter((_, at) => at !== index);
  const sum = others.reduce((total, { share }) => total + share, 0);
  return others.map((each) => ({
    ...each,
    share: sum > 0 ? rounded(each.share / sum) : rounded(1 / others.length),
  }));
}

function freeLabel(label: string, list: readonly EnvironmentConfig[]): string {
  const isTaken = (name: string) => list.some((each) => each.label === name);
  if (!isTaken(label)) return label;
  let number = 2;
  while (isTaken(`${label}-${number}`)) number++;
  return `${label}-${number}`;
}

/** Separates a list of environments from the other edits. */
export function splitEdits({ environments, ...edits }: Settings): {
  list: EnvironmentConfig[] | null;
  edits: Settings;
} {
  if (environments === undefined) return { list: null, edits };
  try {
    const list: unknown = JSON.parse(String(environments));
    if (Array.isArray(list) && list.length > 0) return { list, edits };
  } catch {}
  return { list: null, edits: { environments, ...edits } };
}

/** Returns the edits as the server expects them: the list first, because other paths refer to its items. */
export const joinEdits = (list: readonly EnvironmentConfig[] | null, edits: Settings): Settings =>
  list ? { environments: JSON.stringify(list), ...edits } : edits;

/** Returns the edits outside of environments. */
export const withoutEnvironmentEdits = <T>(byPath: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(byPath).filter(([path]) => !path.startsWith('environments.')));
