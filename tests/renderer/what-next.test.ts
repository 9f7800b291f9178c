import { describe, expect, test } from 'vitest';
import type { RunSummary } from '../../core/contract/contract.ts';
import { MetricSeries } from '../../renderer/charts/metric-series.ts';
import { clipRange, describeResult, learnedIn, resultSentence } from '../../renderer/pages/run/outcome.ts';
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
    expect(wordsOf([0.3, 0.72, 0.7])[0]).toBe('Vary a setting');
    expect(wordsOf([0.3, 0.7, 0.7])[0]).toBe('Vary a setting');
    expect(wordsOf([0.3, 0.98])[0]).toBe('Evaluate on harder levels');
  });

  test('are not suggested for an imported run', () => {
    expect(wordsOf([0.3, 0.5, 0.7], run({ task: 'imported' }))).toEqual([]);
  });

  test('suggest the best checkpoint after a drop, but not to train a collapsed run', () => {
    expect(ideasFor(run(), learned([0.3, 0.8, 0.6]))[0]).toMatchObject({ to: { dialog: 'fork', checkpoint: 20 } });
    const collapse = { peak: { iteration: 20, success: 0.8 }, last: { iteration: 40, success: 0.1 }, warnedAt: 12 };
    expect(wordsOf([0.3, 0.8, 0.1], run({ collapse }))).toEqual(['Repeat with more seeds', 'Play the same levels']);
  });

  test('only explore in the sample run', () => {
    expect(sampleIdeas(run()).map(({ label }) => label)).toEqual([
      'Replay its last episodes',
      'Open the reasoning tree',
    ]);
  });

  test('the clip ends at the best checkpoint, or at the last if none beat the first or the run collapsed', () => {
    const story = (values: readonly number[], collapsed = false) => clipRange(learned(values)[0]!, collapsed);
    expect(story([0.3, 0.7, 0.6])).toEqual({ upTo: 20, peak: null });
    expect(story([0.5, 0.3, 0.4])).toEqual({ upTo: 40, peak: null });
    expect(story([0.3, 0.7, 0.1], true)).toEqual({ upTo: 40, peak: 20 });
    expect(story([0.5, 0.3, 0.1], true)).toEqual({ upTo: 40, peak: null });
  });

  test('the result is one sentence with each environment that was evaluated twice', () => {
    expect(resultSentence(run(), learned([0.359, 0.742]), 'success on 256 fixed levels')).toBe(
      'FrozenLake, StarPO-S (PPO): 35.9 → 74.2 % success on 256 fixed levels (StarPO Studio).',
    );
    expect(learned([0.5])).toEqual([]);
    const whole = run({ iterations: 120, startedAt: 0, trainingSeconds: 60 });
    expect(describeResult(whole, 64)).toMatch(/^success on 64 fixed levels, after 120 iterations in /);
    const live = run({ ...whole, status: 'running', iteration: 30 });
    expect(describeResult(live, 64)).toMatch(/^success on 64 fixed levels, after 30 iterations in /);
    expect(describeResult(live, 64, 20)).toBe('success on 64 fixed levels, after 20 iterations');
    const panels = [{ label: 'frozen-lake', hash: '1a2b3c4d5e6f' }];
    expect(describeResult({ ...live, panels }, 64, 1)).toBe(
      'success on 64 fixed levels (panel 1a2b3c4d), after 1 iteration',
    );
    expect(describeResult({ ...whole, parent: { run: 'parent', iteration: 80 } }, null)).toMatch(
      /^success, after 40 more iterations in /,
    );
  });
});
