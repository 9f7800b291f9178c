import type { PanelHash } from './contract.ts';

/** Returns the part of a hash that is shown. */
export const shortHash = (hash: string): string => hash.slice(0, 8);

/** Returns the distinct short hashes of panels: `1a2b3c4d, 5e6f7a8b`. Returns an empty text without a panel. */
export const panelHashes = (panels: readonly PanelHash[]): string =>
  [...new Set(panels.map(({ hash }) => shortHash(hash)))].join(', ');

/** Returns panels with their labels: ` (panel lake 1a2b3c4d)`. Returns an empty text without a panel. */
export const panelsInBrackets = (panels: readonly PanelHash[]): string =>
  panels.length === 0 ? '' : ` (panel ${panels.map(({ label, hash }) => `${label} ${shortHash(hash)}`).join(', ')})`;

/** Names the panels of an environment in several runs or settings: `panel 1a2b3c4d`. Empty without a panel. */
export function panelWords(panels: readonly PanelHash[], label: string): string {
  const hashes = [...new Set(panels.flatMap((each) => (each.label === label ? [shortHash(each.hash)] : [])))].sort();
  if (hashes.length < 2) return hashes.map((hash) => `panel ${hash}`).join();
  return `different levels: panels ${hashes.join(', ')}`;
}
