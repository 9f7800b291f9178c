import { runKind } from './echo-trap.ts';
import { listWithAnd } from './sentence.ts';
import type { StudyCollapse } from './studies.ts';

/** Most onsets listed one by one. */
const named = 5;

/** Describes the outcomes for a setting: `2 of 5`, `from iterations 51 and 71` (null if none collapsed), `2 template, 3 healthy`. */
export function collapseInWords({ n, collapsed, onsets, kinds }: StudyCollapse) {
  return {
    count: `${collapsed} of ${n}`,
    from: onsets.length === 0 ? null : `from ${iterations(onsets)}`,
    kinds: runKind.options.flatMap((kind) => (kinds[kind] ? `${kinds[kind]} ${kind}` : [])).join(', '),
  };
}

function iterations(onsets: readonly number[]): string {
  const [first, last] = [onsets[0]!, onsets.at(-1)!];
  if (first === last) return `iteration ${first}`;
  if (onsets.length > named) return `iterations between ${first} and ${last}`;
  return `iterations ${listWithAnd(onsets.map(String))}`;
}
