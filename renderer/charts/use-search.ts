import { useMemo, useState } from 'react';
import type { ChartItem } from './chart.tsx';

export interface ChartSearch {
  text: string;
  setText: (text: string) => void;
  /** Null where nothing is searched for. */
  matches: ((item: ChartItem) => boolean) | null;
  /** What is wrong with it, empty where nothing is. */
  note: string;
}

/** Charts by their title and their metrics' names: a regular expression, or just words where it is none. */
export function useChartSearch(): ChartSearch {
  const [text, setText] = useState('');
  const search = useMemo(() => searchFor(text.trim()), [text]);
  return { text, setText, ...search };
}

export function searchFor(text: string): Pick<ChartSearch, 'matches' | 'note'> {
  if (text === '') return { matches: null, note: '' };
  const pattern = patternOf(text);
  const found = pattern
    ? (name: string) => pattern.test(name)
    : (name: string) => name.toLowerCase().includes(text.toLowerCase());
  return {
    matches: ({ spec }) =>
      found(spec.title) || found(spec.id) || spec.lines.some(({ metric }) => found(metric)),
    note: pattern ? '' : 'Not a regular expression: searched as text',
  };
}

function patternOf(text: string): RegExp | null {
  try {
    return new RegExp(text, 'i');
  } catch {
    return null;
  }
}
