import type { ConfigForm, Settings } from '../../../core/contract/contract.ts';

/** The environments of a configuration in the making, more or fewer of them. Everything here is pure. */

/** As run.json has it; the rest is the form's. */
export interface EnvironmentConfig {
  label: string;
  type: string;
  share: number;
  prompt: { system: string; first: string; next: string };
  [key: string]: unknown;
}

type Addable = ConfigForm['addable'][number];

const rounded = (share: number) => Math.round(share * 1000) / 1000;

/** With one more, whose share is as large as one of them has on average. Where the others are told rules, so is it. */
export function withEnvironment(list: readonly EnvironmentConfig[], added: Addable): EnvironmentConfig[] {
  const own = added.environment as unknown as EnvironmentConfig;
  const count = list.length;
  const prompt = (list[0]?.prompt.system ? added.chatPrompt : own.prompt) as EnvironmentConfig['prompt'];
  return [
    ...list.map((each) => ({ ...each, share: rounded((each.share * count) / (count + 1)) })),
    { ...own, label: freeLabel(own.label, list), share: rounded(1 / (count + 1)), prompt },
  ];
}

/** Without one; the others have its share among them. */
export function withoutEnvironment(list: readonly EnvironmentConfig[], index: number): EnvironmentConfig[] {
  const others = list.filter((_, at) => at !== index);
  const sum = others.reduce((total, { share }) => total + share, 0);
  return others.map((each) => ({
    ...each,
    share: sum > 0 ? rounded(each.share / sum) : rounded(1 / others.length),
  }));
}

function freeLabel(label: string, list: readonly EnvironmentConfig[]): string {
  const taken = (name: string) => list.some((each) => each.label === name);
  if (!taken(label)) return label;
  let number = 2;
  while (taken(`${label}-${number}`)) number++;
  return `${label}-${number}`;
}

/** A list that came among the changes, and these without it. */
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

/** The changes as core takes them: the list first, since others name places in it. */
export const joinEdits = (list: readonly EnvironmentConfig[] | null, edits: Settings): Settings =>
  list ? { environments: JSON.stringify(list), ...edits } : edits;

/** Changes of something else than an environment. */
export const besidesEnvironments = <T>(byPath: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(byPath).filter(([path]) => !path.startsWith('environments.')));
