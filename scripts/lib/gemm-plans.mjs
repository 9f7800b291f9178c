/**
 * The fastest plan of a matrix product, as the table of the trainer contains it.
 * @typedef {{ multiprocessors: number, n: number, k: number, exact: boolean, rows: number, tile: string, split: number }} Plan
 */

/**
 * A kernel in the result of starpo-bench kernels. Matrix products have n, k and plan.
 * @typedef {{ kernel: string, rows: number, n?: number, k?: number, plan?: string, chosen?: boolean, microseconds: number }} KernelTime
 */

/**
 * Returns the fastest plan per product and number of rows, for fast mode and for exact mode, which doesn't split. SwiGLU
 * is never split, so its plans are exact ones. gain: the speedup over the plan that the trainer chose, in percent.
 * @param {readonly { multiprocessors: number, kernels: readonly KernelTime[] }[]} measured
 */
export function measuredPlans(measured) {
  return measured.flatMap(({ multiprocessors, kernels }) => {
    const products = kernels.filter(({ plan }) => plan && plan !== 'cublaslt');
    const keys = [...new Set(products.map(({ kernel, rows }) => `${kernel} ${rows}`))];
    return keys.flatMap((key) => {
      const timed = products.filter(({ kernel, rows }) => `${kernel} ${rows}` === key);
      return [false, true].flatMap((exact) => {
        const candidates = timed.filter(({ plan }) => !exact || plan?.endsWith(' split 1'));
        const best = candidates.reduce((a, b) => (b.microseconds < a.microseconds ? b : a));
        const { kernel, rows, n = 0, k = 0, plan = '' } = best;
        if (kernel === 'gate_up' && !exact) return [];
        const [tile = '', , split] = plan.split(' ');
        const chosen = candidates.find((each) => each.chosen);
        const gain = chosen ? Math.round(100 * (chosen.microseconds / best.microseconds - 1)) : 0;
        return [{ multiprocessors, n, k, exact, rows, tile, split: Number(split), kernel, gain }];
      });
    });
  });
}

/** @param {string} text of gemm_plans.inc @returns {Plan[]} */
export function parsePlans(text) {
  const line = /^\{(\d+), nt, (\d+), (\d+), (true|false), (\d+), \{(\w+), (\d+)\}\},$/gm;
  return [...text.matchAll(line)].map(([, multiprocessors, n, k, exact, rows, tile = '', split]) => ({
    multiprocessors: Number(multiprocessors),
    n: Number(n),
    k: Number(k),
    exact: exact === 'true',
    rows: Number(rows),
    tile,
    split: Number(split),
  }));
}

/**
 * Replaces the plans of the measured GPUs.
 * @param {readonly Plan[]} before @param {readonly Plan[]} measured @returns {Plan[]}
 */
export function mergePlans(before, measured) {
  const gpus = new Set(measured.map(({ multiprocessors }) => multiprocessors));
  return [...before.filter(({ multiprocessors }) => !gpus.has(multiprocessors)), ...measured];
}

/** @param {readonly Plan[]} plans @param {readonly { device_name: string }[]} measured */
export function formatPlans(plans, measured) {
  const names = [...new Set(measured.map(({ device_name }) => device_name))].join(', ');
  const lines = plans.map(
    ({ multiprocessors, n, k, exact, rows, tile, split }) =>
      `{${multiprocessors}, nt, ${n}, ${k}, ${exact}, ${rows}, {${tile}, ${split}}},`,
  );
  const head = '// Written by `node scripts/gemm-plans.mjs RESULTS/kernels.json`. Last measured:';
  return `${[`${head} ${names}.`, ...lines].join('\n')}\n`;
}
