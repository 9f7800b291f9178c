import { describe, expect, test } from 'vitest';
import type { RunSummary, TrapState } from '../../core/contract/contract.ts';
import { MetricSeries } from '../../renderer/charts/metric-series.ts';
import { clipEnd, describeResult, learnedIn, resultSentence } from '../../renderer/pages/run/outcome.ts';
import { ideasFor, sampleIdeas } from '../../renderer/pages/run/what-next.ts';
import { runOf } from './summaries.ts';

const run = (change: Partial<RunSummary> = {}) => runOf({ status: 'completed', ...change });

/** Success rates of evaluations every 20 iterations. */
function learned(values: readonly number[], label = 'frozen-lake') {
  const success = new MetricSeries();
  for (const [at, value] of values.entries()) success.put(at * 20, value);
  const name = `evaluation/${label}/success_rate`;
  return learnedIn({ names: () => [name], get: (metric) => (metric === name ? success : undefined) });
}
const wordsOf = (values: readonly number[], of = run()) => ideasFor(of, learned(values)).map(({ label }) => label);

describe('next steps', () => {
  test('depend on the evaluations', () => {
    expect(wordsOf([0.3, 0.5, 0.7])[0]).toBe('Train more');
    expect(wordsOf([0.3, 0.72, 0.7])[0]).toBe('Vary the learning rate');
    expect(wordsOf([0.3, 0.7, 0.7])[0]).toBe('Vary the learning rate');
    expect(wordsOf([0.3, 0.98])[0]).toBe('Evaluate on harder levels');
    expect(wordsOf([0.3, 0.8, 0.4])[0]).toBe('See suggested actions');
  });

  test('show an alarm of the monitor first', () => {
    const trap = (state: TrapState) => run({ trap: { state } as RunSummary['trap'] });
    expect(wordsOf([0.3, 0.5, 0.7], trap('collapsing'))[0]).toBe('See suggested actions');
    expect(wordsOf([0.3, 0.5, 0.7], trap('healthy'))[0]).toBe('Train more');
  });

  test('only explore in the sample run', () => {
    const words = (trap: RunSummary['trap']) => sampleIdeas(run({ trap })).map(({ label }) => label);
    expect(words(null)).toEqual(['Replay its last episodes', 'Open the thought tree']);
    expect(words({ state: 'watch' } as RunSummary['trap'])).toContain('See the signals');
  });

  test('the clip ends at the best checkpoint, or at the last if none beat the first', () => {
    const endOf = (values: readonly number[]) => learned(values).map(clipEnd);
    expect(endOf([0.3, 0.7, 0.6])).toEqual([20]);
    expect(endOf([0.5, 0.3, 0.4])).toEqual([40]);
  });

  test('the result is one resultSentence with each environment that was evaluated twice', () => {
    expect(resultSentence(run(), learned([0.359, 0.742]), 'success on 256 fixed levels')).toBe(
      'FrozenLake, StarPO-S (PPO): 35.9 → 74.2 % success on 256 fixed levels (StarPO Studio).',
    );
    expect(learned([0.5])).toEqual([]);
    const whole = run({ iterations: 120, startedAt: 0, trainingSeconds: 60 });
    expect(describeResult(whole, 64)).toMatch(/^success on 64 fixed levels, after 120 iterations in /);
    expect(describeResult({ ...whole, parent: { run: 'parent', iteration: 80 } }, null)).toMatch(
      /^success, after 40 more iterations in /,
    );
  });
});
