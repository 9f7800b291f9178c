import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Pair, summarize } from '../../benchmarks/echo-trap/reactions-summary.ts';
import { finishedJob, type Job, runJobs } from '../../benchmarks/echo-trap/resumable.ts';
import { areaUnderCurve, brier, type RiskPoint, summarizeRisk } from '../../benchmarks/echo-trap/risk-statistics.ts';
import { bestMean, type Trained } from '../../benchmarks/echo-trap/trained-run.ts';
import measured from '../../benchmarks/results/true-risk.json' with { type: 'json' };
import { collapseRateOf } from '../../core/echo-trap/risk.ts';

const trained = (last_ten: number, collapsed: number | null, backTo: number | null = null): Trained => ({
  ...{ last_ten, best: 60, iterations: 100 },
  label: collapsed === null ? { collapsed, kind: 'healthy' } : { collapsed, kind: 'template' },
  rollbacks: backTo === null ? [] : [{ stopped_at: 50, back_to: backTo, changes: {} }],
});
const pair = (family: string, seed: number, notify: Trained, rollback: Trained): Pair => ({
  ...{ family, seed, notify, rollback },
});

test('reactions: collapsing, declining and healthy settings are compared with their pair', () => {
  const { gain, groups, families } = summarize([
    pair('risky', 1, trained(10, 70), trained(55, null, 20)),
    pair('risky', 2, trained(20, 80), trained(45, null, 40)),
    pair('calm', 1, trained(60, null), trained(60, null)),
    pair('calm', 2, trained(62, null), trained(58, null, 45)),
    pair('calm', 3, { ...trained(40, null), label: { collapsed: null, kind: 'declining' } }, trained(60, null, 30)),
  ]);
  expect(gain!.mean).toBe(17.2);
  // 55 is within ten points of 60, 45 is not.
  expect(groups).toMatchObject({
    collapsing: { pairs: 2, rolled_back: 1, saved: 0.5, gain: { mean: 35 }, iterations_lost: 20 },
    declining_or_locked: { pairs: 1, rolled_back: 1, saved: 1, gain: { mean: 20 }, iterations_lost: 20 },
    healthy: { pairs: 2, rolled_back: 0.5, saved: 1, gain: { mean: -2 }, iterations_lost: 2.5 },
  });
  expect(families.map(({ family, pairs, rolled_back }) => [family, pairs, rolled_back])).toEqual([
    ['risky', 2, 1],
    ['calm', 3, 0.667],
  ]);
  expect(summarize([]).gain).toBeNull();
});

test('the best before a collapse ignores iterations after the onset', () => {
  const points = Array.from({ length: 40 }, (_, i) => ({
    iteration: i + 1,
    metrics: { 'rollout/success_rate': i < 20 ? 0.5 : 0.9 },
  }));
  expect(bestMean(points)).toBe(90);
  expect(bestMean(points, 20)).toBe(50);
  expect(bestMean(points, 0)).toBe(50);
});

const at = (seed: number, score: number, collapsed: number): RiskPoint => ({
  ...{ family: 'lake', seed, iteration: 20, score, strengths: [score, 0], continuations: 6, collapsed },
});

test('the score is compared with the share of continuations that collapse', () => {
  const points = [at(1, 0.1, 0), at(2, 0.5, 3), at(3, 1.2, 6)];
  // A probability that knows the true risk errs only by chance: 6 of 18 outcomes by a half.
  expect(brier(points, [0, 0.5, 1])).toBeCloseTo((6 * 0.25) / 18);
  // Of 81 pairs, 9 within the second point are ties.
  expect(areaUnderCurve(points, [0, 0.5, 1])).toBeCloseTo((81 - 9 / 2) / 81);
  expect(areaUnderCurve(points, [1, 0.5, 0])).toBeCloseTo(9 / 2 / 81);
  const { ceiling, score, mean_risk } = summarizeRisk(points)!;
  expect(mean_risk).toBe(0.5);
  expect(ceiling.brier).toBeCloseTo((0.25 * 6) / 5 / 3, 3);
  expect(score.reliability).toHaveLength(5);
  expect(score.reliability.reduce((sum, bin) => sum + bin.points, 0)).toBe(3);
  expect(summarizeRisk([{ ...points[0]!, score: null }])).toBeNull();
});

test('a calibrated score of many runs is near the true risk', () => {
  const points = Array.from({ length: 30 }, (_, i) => at(i, i / 30, Math.round((6 * i) / 30)));
  const { score, ceiling, mean_risk_alone } = summarizeRisk(points)!;
  expect(score.brier).toBeLessThan(ceiling.brier + 0.03);
  expect(score.brier).toBeLessThan(mean_risk_alone.brier - 0.05);
  for (const { predicted, true_risk } of score.reliability)
    if (predicted !== null) expect(Math.abs(predicted - true_risk!)).toBeLessThan(0.15);
});

test('the app shows the share of runs that the measured continuations give', () => {
  const points: RiskPoint[] = measured.points;
  const { fit, by_score } = summarizeRisk(points)!;
  expect(measured.summary).toMatchObject({ fit, by_score });
  for (const score of [0, 0.5, 1, 1.4])
    expect(collapseRateOf(score)).toBeCloseTo(1 / (1 + Math.exp(-fit.bias - fit.weight * score)), 2);
  const highest = Math.max(...points.map(({ score }) => score!));
  expect(collapseRateOf(highest + 1)).toBeCloseTo(collapseRateOf(highest), 2);
});

test('finished jobs are not repeated, and a failed one is tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-jobs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const errors = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => void vi.restoreAllMocks());
  const ran: string[] = [];
  let broken = true;
  const job = (name: string): Job<number> => ({
    name,
    async run() {
      ran.push(name);
      if (name === 'b' && broken) throw new Error('no memory');
      return name.length;
    },
  });
  const onResult = vi.fn();
  const options = { folder, workers: 2, onResult };
  const before = process.exitCode;
  expect(await runJobs(['a', 'b', 'c'].map(job), options)).toBe(true);
  expect(process.exitCode).toBe(1);
  process.exitCode = before;
  expect(errors).toHaveBeenCalledWith('b failed: no memory');
  expect(readdirSync(folder).sort()).toEqual(['a.json', 'c.json']);
  expect(onResult).toHaveBeenCalledTimes(2);
  broken = false;
  await runJobs(['a', 'b', 'c'].map(job), options);
  expect(ran).toEqual(['a', 'b', 'c', 'b']);
  expect(finishedJob(folder, 'b')).toBe(1);
  expect(log.mock.calls.at(-1)![0]).toBe('b. 3 of 3, about 0.0 h left');
});
