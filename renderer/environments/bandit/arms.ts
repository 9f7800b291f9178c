/** Properties of an arm, hidden from the agent. */
interface Arm {
  name: string;
  /** Payout: `always 0.1`, `1 in 25 % of pulls, else 0`; empty if unknown. */
  pays: string;
  /** Mean payout; null if unknown. */
  mean: number | null;
  /** True if its mean payout is higher than the others'. */
  better: boolean;
}

/** Returns the arms in display order, with the payouts from run.json. */
export function armsOf(names: readonly string[], config: Record<string, unknown>): Arm[] {
  const arms = names.map((name) => ({ name, ...payoutOf(name, config) }));
  const best = Math.max(...arms.map(({ mean }) => mean ?? Number.NEGATIVE_INFINITY));
  const comparable = arms.every(({ mean }) => mean !== null) && arms.some(({ mean }) => mean !== best);
  return arms.map((arm) => ({ ...arm, better: comparable && arm.mean === best }));
}

function payoutOf(name: string, config: Record<string, unknown>): Pick<Arm, 'pays' | 'mean'> {
  const is = (key: string) => sameArm(String(config[key] ?? ''), name);
  const value = (key: string) => (typeof config[key] === 'number' ? config[key] : Number.NaN);
  if (is('lo_arm_name')) {
    const score = value('lo_arm_score');
    return { pays: `always ${round(score)}`, mean: finite(score) };
  }
  if (is('hi_arm_name')) {
    const chance = value('hi_arm_hiscore_prob');
    const [high, low] = [value('hi_arm_hiscore'), value('hi_arm_loscore')];
    return {
      pays: `${round(high)} in ${Math.round(chance * 100)} % of pulls, else ${round(low)}`,
      mean: finite(chance * high + (1 - chance) * low),
    };
  }
  return { pays: '', mean: null };
}

const finite = (value: number) => (Number.isFinite(value) ? value : null);
export const round = (value: number) => `${Math.round(value * 1000) / 1000}`.replace('-', '−');

/** Compares names of arms, which are case-insensitive. */
export const sameArm = (a: string | null, b: string) => a !== null && a.toLowerCase() === b.toLowerCase();
