import { create } from 'zustand';
import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { type Measure, measures, measuresOf } from './token-scale.ts';

const storageKey = 'starpo-token-colors';
const off = 'none';

interface TokenPreference {
  /** Null colors nothing. Undefined until the user chooses. */
  chosen: Measure | null | undefined;
  choose: (measure: Measure | null) => void;
}

/** The measure that colors tokens in replays. */
export const useTokenPreference = create<TokenPreference>()((set) => ({
  chosen: stored(),
  choose: (chosen) => {
    localStorage.setItem(storageKey, chosen ?? off);
    set({ chosen });
  },
}));

/** Ignores invalid values, which another version may have written. */
function stored(): Measure | null | undefined {
  const value = localStorage.getItem(storageKey);
  if (value === off) return null;
  return value !== null && Object.hasOwn(measures, value) ? (value as Measure) : undefined;
}

/** Returns the measure to show. Without a choice it is entropy, or null if the file lacks entropies or the texts of tokens. */
export function measureFor(chosen: Measure | null | undefined, tokens: EpisodeTokens | null): Measure | null {
  if (chosen !== undefined) return chosen;
  const readable = tokens?.turns.every(({ texts }) => texts !== null) && measuresOf(tokens).includes('entropies');
  return readable ? 'entropies' : null;
}
