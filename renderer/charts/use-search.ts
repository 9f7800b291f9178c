import { useMemo, useState } from 'react';
import { useSearchRequest } from '../stores/search-request.ts';
import type { ChartItem } from './chart.tsx';

export interface ChartSearch {
  text: string;
  setText: (text: string) => void;
  /** Null without a search. */
  matches: ((item: ChartItem) => boolean) | null;
  /** A problem with the search text; may be empty. */
  note: string;
}

/** Filters charts by title and metric name, with a regular expression or plain text. */
export function useChartSearch(): ChartSearch {
  const [text, setText] = useState('');
  useSearchRequest('charts', setText);
  const search = useMemo(() => searchFor(text.trim()), [text]);
  return { text, setText, ...search };
}

export function searchFor(text: string): Pick<ChartSearch, 'matches' | 'note'> {
  if (text === '') return { matches: null, note: '' };
  const pattern = patternOf(text);
  const isMatch = pattern
    ? (name: string) => pattern.test(name)
    : (name: string) => name.toLowerCase().includes(text.toLowerCase());
  return {
    matches: ({ spec }) => isMatch(spec.title) || isMatch(spec.id) || spec.lines.some(({ metric }) => isMatch(metric)),
    note: pattern ? '' : 'Not a valid regular expression; searching as text',
  };
}

function patternOf(text: string): RegExp | null {
  try {
    return new RegExp(text, 'i');
  } catch {
    return null;
  }
}
