import options from '../run-config/options.json' with { type: 'json' };

const meanings: Readonly<Record<string, string>> = options.meanings;

/** What a setting of run.json is, by its path, as docs/formats/run-config.md has it; empty for those of environments' own configurations. */
export const settingMeaning = (path: string): string =>
  (meanings[path.replace(/\.\d+(?=\.|$)/g, '[]')] ?? '')
    // Links lead to the documentation's other pages.
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '');
