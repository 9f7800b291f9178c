import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Series } from '../../core/contract/contract.ts';
import type { ImportSource } from '../../core/contract/imports.ts';
import { readLog, readSeries } from '../../core/history/queries.ts';
import { inspectFiles } from '../../core/imports/inspect.ts';
import { starpoHere } from './fixtures/command.ts';
import { importFile } from './fixtures/import-file.ts';
import { World } from './fixtures/world.ts';

/**
 * Returns the table of a run that learns for 100 steps and then collapses; reward std and entropy fall long before.
 * `columns` maps metrics to column names.
 */
function collapsing(columns: Partial<Record<'success' | 'spread' | 'entropy' | 'gradient', string>>): string {
  const valuesAt = (step: number) => ({
    success: step < 100 ? 0.3 + 0.3 * Math.min(1, step / 60) : Math.max(0.02, 0.6 - 0.03 * (step - 100)),
    spread: 0.45 * Math.max(0.1, 1 - step / 80),
    entropy: 0.5 * Math.max(0.1, 1 - step / 70),
    gradient: 0.5 + 0.01 * (step % 7) + (step === 102 ? 4 : 0),
  });
  return table(columns, valuesAt);
}

function table<Metric extends string>(
  columns: Partial<Record<Metric, string>>,
  valuesAt: (step: number) => Record<Metric, number | string>,
  steps = 150,
): string {
  const chosen = Object.keys(columns) as Metric[];
  const rows = Array.from({ length: steps }, (_, i) => {
    const all = valuesAt(i + 1);
    return [i + 1, ...chosen.map((name) => all[name])];
  });
  return [['Step', ...chosen.map((name) => columns[name])], ...rows].map((row) => row.join(',')).join('\n');
}

describe('importing metrics of another trainer', { timeout: 120_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  const write = (name: string, text: string | Buffer) => {
    const path = join(world.folder, name);
    writeFileSync(path, text);
    return path;
  };
  /** Imports a table and returns the indexed run. */
  async function imported(from: ImportSource | undefined, text: string | Buffer, name = 'table.csv', run?: string) {
    const { runId, ...rest } = await importFile(world.home, write(name, text), { from, run });
    const core = await world.core();
    const byName = new Map(readSeries(core.database, runId).map((series) => [series.name, series]));
    const series = (metric: string) => points(byName.get(metric));
    return { core, runId, ...rest, series, summary: core.runs.get(runId), metrics: [...byName.keys()] };
  }
  const points = (series: Series | undefined) =>
    series?.iterations.map((iteration, index) => [iteration, series.values[index]]);
  /** Imports a table and returns the Echo Trap monitor's result. */
  async function monitored(from: ImportSource | undefined, text: string) {
    const { core, runId, ...rest } = await imported(from, text);
    const trap = await core.supervisor.trap(runId);
    const alerts = core.annotations.alerts(runId).toSorted((a, b) => a.iteration - b.iteration);
    await world.end();
    return { ...rest, runId, trap, alerts };
  }

  test("imports RAGEN's W&B export without the MIN and MAX columns", async () => {
    const header = [
      'Step',
      'lake - train/CoordFrozenLake/success',
      'lake - train/CoordFrozenLake/success__MIN',
      'lake - train/CoordFrozenLake/success__MAX',
      'lake - rollout/in_group_std',
      'lake - actor/grad_norm',
      'lake - actor/pg_clipfrac',
      'lake - val-env/CoordFrozenLake/success',
    ];
    const rows = [
      [0, '', '', '', '', '', '', 0.2],
      [1, 0.25, 0.25, 0.25, 0.4, 1.5, 0.01, ''],
      [2, 0.5, 0.5, 0.5, '1e-1', 2, 0, 0.6],
    ];
    const text = [header, ...rows].map((row) => row.map((cell) => `"${cell}"`).join(',')).join('\r\n');
    const { series, summary, core, runId, metrics } = await imported('ragen', `\uFEFF${text}\r\n`);
    expect(series('rollout/success_rate')).toEqual([
      [1, 0.25],
      [2, 0.5],
    ]);
    expect(series('rollout/reward_std_in_group')).toEqual([
      [1, 0.4],
      [2, 0.1],
    ]);
    expect(series('evaluation/coordfrozenlake/success_rate')).toEqual([
      [0, 0.2],
      [2, 0.6],
    ]);
    expect(series('ragen/actor/pg_clipfrac')).toHaveLength(2);
    expect(metrics).toHaveLength(5);
    expect(summary).toMatchObject({
      name: 'lake',
      task: 'imported',
      status: 'completed',
      iteration: 2,
      iterations: 2,
      failure: null,
      latest: { 'evaluation/coordfrozenlake/success_rate': 0.6, 'rollout/success_rate': 0.5 },
    });
    await expect(core.runs.start(runId)).rejects.toMatchObject({ code: 'run_imported' });
    await expect(core.runs.create({ run: runId })).rejects.toMatchObject({ code: 'run_imported' });
    const { evaluations } = core;
    await expect(evaluations.choices(runId)).rejects.toMatchObject({ code: 'run_imported' });
    await expect(evaluations.start(runId, { checkpoint: 1 })).rejects.toMatchObject({ code: 'run_imported' });
    expect(await evaluations.list(runId)).toEqual([]);
    expect(() => core.queue.add(runId)).toThrow(expect.objectContaining({ code: 'run_imported' }));
  });

  test('keeps the labels of several environments', async () => {
    const text = 'step,train/Bandit/success,train/SimpleSokoban/success\n1,0.5,0.25\n';
    const { metrics, summary } = await imported('ragen', text);
    expect(metrics).toEqual(['rollout/bandit/success_rate', 'rollout/simplesokoban/success_rate']);
    expect(summary.environments).toEqual(['imported', 'imported']);
  });

  test('maps equivalent metrics of verl and TRL to our names', async () => {
    const verl = await imported(
      'verl',
      'training/global_step,critic/score/mean,actor/entropy,response_length/mean,val-core/gsm8k/acc/mean@1,_timestamp\n1,0.1,2.5,300,0.4,1700000000\n',
    );
    expect(verl.names).toEqual({
      'rollout/reward_mean': 'critic/score/mean',
      'rollout/entropy': 'actor/entropy',
      'rollout/response_tokens': 'response_length/mean',
      'evaluation/gsm8k/success_rate': 'val-core/gsm8k/acc/mean@1',
    });
    await world.end();
    const history = [
      { step: 1, reward: 0.1, reward_std: 0.3, entropy: 1.25, frac_reward_zero_std: 0.5, grad_norm: 0.7 },
      { step: 2, reward: 0.2, reward_std: 0.2, entropy: 1, 'clip_ratio/low_mean': 0 },
      { step: 2, train_runtime: 12 },
    ];
    const expected = {
      'rollout/reward_mean': 'reward',
      'rollout/reward_std_in_group': 'reward_std',
      'rollout/zero_std_groups': 'frac_reward_zero_std',
      'actor/clip_fraction_low': 'clip_ratio/low_mean',
      'trl/train_runtime': 'train_runtime',
    };
    const state = await imported('trl', JSON.stringify({ global_step: 2, log_history: history }), 'state.json');
    expect(state.names).toMatchObject(expected);
    expect(state.series('rollout/entropy')).toEqual([
      [1, 1.25],
      [2, 1],
    ]);
    await world.end();
    const lines = history.map((entry) => JSON.stringify(entry)).join('\n');
    const again = await imported('trl', lines, 'log.jsonl');
    expect(again.names).toEqual(state.names);
    expect(again.remarks).toEqual([
      '"reward_std" is read as rollout/reward_std_in_group, which assumes that scale_rewards isn\'t "batch", so the column is the standard deviation within groups.',
    ]);
  });

  test.each<[ImportSource, string]>([
    ['ragen', 'actor/entropy_loss'],
    ['verl', 'actor/entropy_loss'],
    ['verl', 'actor/entropy'],
  ])('uses %s column %s as rollout entropy if no other column exists', async (from, entropy) => {
    const text = collapsing({ success: 'critic/score/mean', entropy, gradient: 'actor/grad_norm' });
    const { names, trap, alerts, remarks } = await monitored(from, text);
    expect(names['rollout/entropy']).toBe(entropy);
    expect(trap!.indicators.find(({ name }) => name === 'entropy')).toMatchObject({ state: 'on' });
    expect(alerts[0]).toMatchObject({ level: 'watch', series: 'rollout/entropy' });
    const substitutions = remarks.filter((remark) => remark.includes('No column matches'));
    expect(substitutions.filter((remark) => remark.includes('rollout/entropy'))).toEqual(
      entropy === 'actor/entropy'
        ? []
        : ['No column matches rollout/entropy; using "actor/entropy_loss" instead: the entropy at the update.'],
    );
  });

  test('imports both entropies of verl if both are logged', async () => {
    const text = 'step,actor/entropy_loss,actor/entropy\n1,0.5,0.6\n';
    const { names, remarks } = await imported('verl', text);
    expect(names).toEqual({ 'actor/entropy': 'actor/entropy_loss', 'rollout/entropy': 'actor/entropy' });
    expect(remarks).toEqual([]);
  });

  test.each<[ImportSource, string]>([
    ['ragen', 'critic/score/mean'],
    ['ragen', 'critic/rewards/mean'],
    ['verl', 'critic/rewards/mean'],
  ])('the monitor of a %s run uses %s without a better reward', async (from, reward) => {
    const { names, trap, alerts, remarks } = await monitored(from, collapsing({ success: reward }));
    expect(names).toEqual({ 'rollout/reward_mean': reward });
    expect(remarks).toEqual([
      expect.stringMatching(`^No column matches rollout/reward_mean; using "${reward}" instead: `),
    ]);
    expect(trap).toMatchObject({ iteration: 150, state: 'collapsed' });
    expect(alerts.at(-1)).toMatchObject({ level: 'collapsed', series: 'rollout/reward_mean' });
    const text = `step,${reward},rollout/in_group_mean,critic/score/mean\n1,0.5,0.4,0.3\n`;
    const { names: better } = await monitored(from, text);
    expect(better['rollout/reward_mean']).toBe(from === 'ragen' ? 'rollout/in_group_mean' : 'critic/score/mean');
  });

  test('recognizes common column names in a CSV table', async () => {
    const columns = {
      success: 'Success_Rate',
      spread: 'reward_std',
      entropy: 'entropy',
      gradient: 'grad_norm',
    };
    const own = {
      success: 'rollout/success_rate',
      spread: 'rollout/reward_std_in_group',
      entropy: 'rollout/entropy',
      gradient: 'actor/grad_norm',
    };
    const common = await monitored('other', collapsing(columns));
    const native = await monitored('other', collapsing(own));
    expect(common.names).toEqual(
      Object.fromEntries(Object.entries(own).map(([metric, name]) => [name, columns[metric as keyof typeof own]])),
    );
    expect(native.alerts.map(({ level }) => level)).toEqual(['watch', 'warning', 'collapsing', 'collapsed']);
    expect(common.trap).toEqual(native.trap);
    const both = await imported('other', 'step,entropy,rollout/entropy,kl,Loss\n1,0.5,0.25,0.1,2\n');
    expect(both.series('rollout/entropy')).toEqual([[1, 0.25]]);
    expect(both.metrics).toEqual(['actor/kl_to_reference', 'actor/loss', 'other/entropy', 'rollout/entropy']);
  });

  const columnNames = { loss: 'actor/pg_loss', gradient: 'actor/grad_norm', reward: 'critic/score/mean' };
  const finite = { loss: 0.01, gradient: 0.5, reward: 0.5 };
  test.each<[what: string, columns: string[], broken: Record<string, string>]>([
    ['a loss and a gradient', ['loss', 'gradient', 'reward'], { loss: 'nan', gradient: 'NaN' }],
    ['a loss alone', ['loss', 'reward'], { loss: '-Infinity' }],
    ['everything', ['loss', 'gradient', 'reward'], { loss: 'nan', gradient: 'nan', reward: 'nan' }],
    ['a gradient, in a run without rewards', ['gradient'], { gradient: 'inf' }],
  ])('raises an alert for non-finite values: %s', async (_, chosen, broken) => {
    const columns = Object.fromEntries(Object.entries(columnNames).filter(([name]) => chosen.includes(name)));
    const text = table(columns, (step) => ({ ...finite, ...(step > 60 ? broken : {}) }), 120);
    const { trap, alerts, remarks, summary, metrics } = await monitored('verl', text);
    expect(trap).toMatchObject({ state: 'collapsing', since: 61 });
    expect(alerts).toMatchObject([{ level: 'collapsing', severity: 'critical', iteration: 61 }]);
    expect(alerts[0]!.message).toMatch(/NaN or infinite value since iteration 61\.$/);
    const column = columns.loss ?? columns.gradient;
    expect(remarks).toContain(`"${column}" is NaN or infinite from step 61.`);
    expect(remarks.some((remark) => remark.includes('skipped'))).toBe(broken.reward !== undefined);
    expect(summary.iteration).toBe(120);
    expect(metrics).toHaveLength(chosen.length);
  });

  test('raises an alert if no loss was ever finite, and again after a rebuild', async () => {
    const columns = { loss: 'actor/pg_loss', reward: 'critic/score/mean' };
    const { trap, alerts, runId } = await monitored(
      'verl',
      table(columns, () => ({ loss: 'nan', reward: 0.5 })),
    );
    expect(alerts).toMatchObject([{ level: 'collapsing', iteration: 1 }]);
    const core = await world.core();
    await core.supervisor.rebuild();
    expect(await core.supervisor.trap(runId)).toEqual(trap);
    expect(core.annotations.alerts(runId)).toEqual(alerts);
  });

  test('raises no alert for NaN in unlogged steps or for a single NaN', async () => {
    const columns = { gradient: 'actor/grad_norm', reward: 'critic/score/mean', critic: 'critic/vf_loss' };
    const sparse = table(
      { ...columns, success: 'val-core/gsm8k/acc/mean@1' },
      (step) => ({
        ...finite,
        gradient: step % 10 === 0 ? 0.5 : 'nan',
        critic: 'nan',
        success: step === 50 ? 0.5 : 'nan',
      }),
      125,
    );
    const passed = table(columns, (step) => ({
      ...finite,
      gradient: step === 60 ? 'inf' : 0.5,
      critic: 1,
    }));
    // pandas writes the rows of a final evaluation like this. Three such rows count as a broken gradient.
    const ended = table(columns, () => ({ gradient: 0.5, reward: 0.5, critic: 1 }), 50);
    const evaluated = `${ended}\n51,NaN,0.5,NaN`;
    const twice = `${evaluated}\n52,NaN,0.5,NaN`;
    for (const text of [sparse, passed, evaluated, twice]) {
      const { trap, alerts, remarks } = await monitored('verl', text);
      expect(trap).toMatchObject({ state: 'unmeasured' });
      expect(alerts).toEqual([]);
      expect(remarks).toEqual([expect.stringMatching(/^\d+ cells? with NaN or Infinity skipped\.$/)]);
    }
    expect((await monitored('verl', `${twice}\n53,NaN,0.5,NaN`)).trap).toMatchObject({ since: 51 });
  });

  test.each<[columns: string[], steps: number, state: string, summary: string]>([
    [
      ['reward', 'loss'],
      3,
      'unmeasured',
      '1 of 6 indicators has data: success. At least 2 besides success are needed.',
    ],
    [
      ['reward', 'entropy'],
      60,
      'unmeasured',
      '2 of 6 indicators have data: entropy, success. At least 2 besides success',
    ],
    [['reward', 'entropy', 'grad_norm'], 2, 'unmeasured', 'The monitor needs at least 3 iterations.'],
    [['reward', 'entropy', 'grad_norm'], 3, 'healthy', 'No evidence of collapse.'],
  ])('calls a run healthy only if it measures enough: %j for %i steps', async (names, steps, state, summary) => {
    const columns = Object.fromEntries(names.map((name) => [name, name]));
    const text = table(columns, () => Object.fromEntries(names.map((name) => [name, 0.5])), steps);
    const { trap, runId } = await monitored('other', text);
    expect(trap).toMatchObject({ state, summary: expect.stringContaining(summary) });
    const { output } = await starpoHere(['show', runId], world.environment());
    expect(output).toMatch(state === 'healthy' ? /echo trap +healthy since/ : /echo trap +unmeasured: too few/);
    const alerts = await starpoHere(['alerts', runId], world.environment());
    expect(alerts.output).toMatch(state === 'healthy' ? /^Healthy \(since iteration 0\)\. / : /^Not measured\. The /);
  });

  test('does not mention reasoning if it was not measured', async () => {
    const columns = { spread: 'rollout/in_group_std', entropy: 'actor/entropy' };
    const aboutReasoning = /reasoning|thought|template/i;
    for (const [from, text] of [
      ['ragen', collapsing({ success: 'train/Bandit/success', ...columns })],
      ['ragen', collapsing(columns)],
      ['verl', collapsing({ success: 'critic/score/mean', entropy: 'actor/entropy' })],
      ['other', collapsing({ spread: 'reward_std' })],
    ] as const) {
      const { trap, alerts } = await monitored(from, text);
      expect(alerts.length).toBeGreaterThan(0);
      for (const { message, regime } of alerts) {
        expect(message).not.toMatch(aboutReasoning);
        expect(regime).toBe('unknown');
      }
      expect(trap!.summary).not.toMatch(aboutReasoning);
      expect(trap!.map.regime).toBe('unknown');
    }
  });

  test('sorts rows by step and reports skipped values', async () => {
    const text = [
      'iteration;rollout/success_rate;rollout/entropy;comment;other',
      '3;0.3;nan;late;1',
      '1;0.1;0.9;early;2',
      ';0.5;0.5;none;3',
      '2;0.2;-Infinity;;4',
      '2;0.25;;;5',
      '4;;0.8;;',
    ].join('\n');
    const { series, remarks, core, runId } = await imported('other', text);
    expect(series('rollout/success_rate')).toEqual([
      [1, 0.1],
      [2, 0.25],
      [3, 0.3],
    ]);
    expect(series('rollout/entropy')).toEqual([
      [1, 0.9],
      [4, 0.8],
    ]);
    expect(series('other/other')).toHaveLength(3);
    expect(remarks).toEqual([
      'Column "comment" was skipped: it is not numeric.',
      '1 row without a step skipped.',
      '2 cells with NaN or Infinity skipped.',
      'Steps are repeated: 2 earlier values replaced by later ones.',
      'Steps were out of order and have been sorted.',
    ]);
    const log = readLog(core.database, runId).map(({ message }) => message);
    for (const remark of remarks) expect(log).toContain(remark);
  });

  test('indexes an imported run again in a rebuild', async () => {
    const { core, runId, series } = await imported('other', 'step,rollout/entropy\n1,0.5\n2,0.25\n');
    const before = core.runs.get(runId);
    await core.supervisor.rebuild();
    expect(core.runs.get(runId)).toEqual(before);
    expect(series('rollout/entropy')).toHaveLength(2);
  });

  test('imports one of several runs in a file', async () => {
    const text = '"Step","a - b - reward","other - reward"\n1,0.5,0.25\n';
    const path = write('two.csv', text);
    expect((await inspectFiles([{ name: 'two.csv', path }], 'trl')).map(({ name }) => name)).toEqual([
      'a - b',
      'other',
    ]);
    const { series, summary } = await imported('trl', text, 'two.csv', 'other');
    expect(series('rollout/reward_mean')).toEqual([[1, 0.25]]);
    expect(summary.name).toBe('other');
  });

  test.each<[what: string, change: (text: string) => string, remarks?: string[]]>([
    ['a comma at the end of each row', (text) => text.replaceAll('\n', ',\n')],
    ['a comma at the end of each row but the header', (text) => text.replaceAll(/(?<=\n.*)\n/g, ',\n')],
    ['a comma at the end of one row', (text) => text.replace('\n75,', ',\n75,')],
    ['a comma at the end of the header', (text) => text.replace('\n', ',\n')],
    ['a last column without a name', (text) => text.replaceAll(/\n/g, ',7\n').replace(',7\n', ',\n')],
    ['a line that declares the delimiter', (text) => `sep=;\r\n${text.replaceAll(',', ';')}`],
    [
      'comment lines',
      (text) => `# of "ours", 1, 2, 3;\n\n${text.replace('\n75,', '\n#later\n75,')}\n#end`.replaceAll('\n', '\r\n'),
    ],
    ['a truncated last row', (text) => `${text}\n151,0.`, ['The last row is truncated and was skipped.']],
  ])('accepts %s', async (_, change, remarks = []) => {
    const columns = { success: 'success_rate', spread: 'rollout/reward_std_in_group', entropy: 'entropy' };
    const original = await monitored('other', collapsing(columns));
    const changed = await monitored('other', change(collapsing(columns)));
    expect(changed.remarks).toEqual(remarks);
    expect(changed.trap).toEqual(original.trap);
    expect(original.trap!.state).toBe('collapsed');
  });

  test('accepts a column called "#" and the NaN and truncated JSON of Python', async () => {
    const { names } = await imported('other', '#,step,reward\n0,1,0.5\n1,2,0.25\n');
    expect(names).toEqual({ 'other/#': '#', 'rollout/reward_mean': 'reward' });
    await world.end();
    const lines = Array.from({ length: 120 }, (_, i) =>
      JSON.stringify({ step: i + 1, reward: 0.5, note: 'NaN \\" NaN', grad_norm: i < 60 ? 0.5 : null }),
    );
    const log = lines.map((line) => line.replace('null', 'NaN'));
    const cut = await monitored('trl', `${log.join('\n')}\n{"step": 121, "rew`);
    const state = await monitored('trl', `{"log_history": [${log.join(', ')}]}`);
    for (const { trap, alerts } of [cut, state]) {
      expect(trap).toMatchObject({ state: 'collapsing', since: 61, iteration: 120 });
      expect(alerts).toMatchObject([{ level: 'collapsing', iteration: 61 }]);
    }
    expect(cut.remarks[0]).toBe('The last row is truncated and was skipped.');
  });

  test("imports RAGEN-2's mutual information and still applies the other signals", async () => {
    const columns = {
      success: 'train/CoordSokoban/success',
      spread: 'rollout/in_group_std',
      entropy: 'actor/entropy',
    };
    const collapse = {
      information: 'collapse_first_turn_sample/mi_seq_estimate',
      ceiling: 'collapse_first_turn_sample/mi_upper_bound',
      retrieval: 'collapse_first_turn_sample/retrieval_accuracy',
      second: 'collapse_first_turn_sample/retrieval_accuracy@2',
      token: 'collapse_first_turn_sample/mi_estimate',
      trajectory: 'collapse_trajectory_sample/mi_seq_estimate',
    };
    const steady = {
      success: 0.5,
      spread: 0.5,
      entropy: 0.4,
      ceiling: Math.log(8),
      token: 0.01,
      trajectory: 1,
    };
    const text = table({ ...columns, ...collapse }, (step) => {
      const share = step < 60 ? 0.8 : Math.max(0.02, 0.8 - (step - 60) / 50);
      const measured = step === 1 || step % 5 === 0;
      const dependence = { information: share * Math.log(8), retrieval: share, second: share };
      return { ...steady, ...(measured ? dependence : { information: '', retrieval: '', second: '' }) };
    });
    const { names, trap, alerts } = await monitored('ragen', text);
    expect(names).toMatchObject({
      'diagnostics/mutual_information': collapse.information,
      'diagnostics/mutual_information_ceiling': collapse.ceiling,
      'diagnostics/retrieval_accuracy': collapse.retrieval,
      'diagnostics/retrieval_accuracy_at_k': collapse.second,
      [`ragen/${collapse.token}`]: collapse.token,
      [`ragen/${collapse.trajectory}`]: collapse.trajectory,
    });
    expect(trap!.map).toMatchObject({
      regime: 'template',
      series: { dependence: 'diagnostics/mutual_information' },
    });
    expect(trap!.signals.find(({ name }) => name === 'reasoning_ignores_state')).toMatchObject({ on: true });
    expect(alerts[0]).toMatchObject({ level: 'watch', series: 'diagnostics/mutual_information' });

    // The weights were fitted to other runs: with healthy mutual information the paper's signals still apply.
    const rows = collapsing(columns).split('\n');
    const healthy = rows.map((row, i) => `${row},${i === 0 ? `${collapse.information},${collapse.ceiling}` : '1.6,2'}`);
    const without = await monitored('ragen', rows.join('\n'));
    const beside = await monitored('ragen', healthy.join('\n'));
    const levels = ({ alerts }: typeof without) => alerts.map(({ level, iteration }) => [level, iteration]);
    expect(levels(beside)).toEqual(levels(without));
    expect(levels(without).map(([level]) => level)).toContain('warning');
  });

  test.each<[string, string | Buffer, string]>([
    ['no step column', 'time,rollout/entropy\n1,2\n', 'import_no_step'],
    ['no known metric', 'step,colour\n1,2\n', 'import_no_metric'],
    ['text in a numeric column', 'step,rollout/entropy\n1,high\n', 'import_not_numeric'],
    ['a formula', 'step,rollout/entropy\n1,=1+1\n', 'import_not_numeric'],
    ['a decimal comma', 'step;rollout/entropy\n1;0,5\n', 'import_not_numeric'],
    ['a fractional step', 'step,rollout/entropy\n1.5,2\n', 'import_step_invalid'],
    ['a negative step', 'step,rollout/entropy\n-1,2\n', 'import_step_invalid'],
    ['an oversized step', 'step,rollout/entropy\n1e300,2\n', 'import_step_invalid'],
    ['a long row', 'step,rollout/entropy\n1,2,3\n', 'import_malformed'],
    ['a short row between others', 'step,rollout/entropy\n1,2\n2\n3,4\n', 'import_malformed'],
    ['an open quote', 'step,rollout/entropy\n1,"2\n', 'import_malformed'],
    ['broken JSON lines', '{"step": 1}\n{"step": \n', 'import_malformed'],
    ['a list of numbers', '[1, 2]', 'import_malformed'],
    ['only a header', 'step,rollout/entropy\n', 'import_empty'],
    ['an empty file', '', 'import_empty'],
    ['only empty cells', 'step,rollout/entropy\n1,\n', 'import_empty'],
    ['a binary file', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), 'import_unreadable'],
    ['another encoding', Buffer.from([0x73, 0xe9, 0x2c]), 'import_unreadable'],
    ['too many columns', `step,${'x,'.repeat(2000)}rollout/entropy\n${'1,'.repeat(2001)}1\n`, 'import_too_large'],
    [
      'objects with different keys',
      Array.from({ length: 100_000 }, (_, index) => `{"step":${index},"metric ${index}":1}\n`).join(''),
      'import_too_large',
    ],
    ['too many rows', `step,rollout/entropy\n${'1,2\n'.repeat(200_001)}`, 'import_too_large'],
  ])('rejects %s and leaves no folder', async (_, content, code) => {
    const attempt = importFile(world.home, write('table.csv', content), { from: 'other' });
    await expect(attempt).rejects.toMatchObject({ code, hint: expect.stringMatching(/./) });
    expect(readdirSync(join(world.home, 'runs'))).toEqual([]);
  });

  test('names the columns that are accepted as the step', async () => {
    const attempt = importFile(world.home, write('table.csv', 'time,rollout/entropy\n1,2\n'), { from: 'other' });
    await expect(attempt).rejects.toMatchObject({
      hint: 'Name a column training/global_step, train/global_step, global_step, step, _step or iteration.',
    });
  });

  test('rejects a folder, a missing file and an oversized file', async () => {
    const attempt = (path: string) => importFile(world.home, path);
    mkdirSync(join(world.folder, 'folder.csv'));
    await expect(attempt(join(world.folder, 'folder.csv'))).rejects.toMatchObject({ code: 'import_unreadable' });
    await expect(attempt(join(world.folder, 'missing.csv'))).rejects.toMatchObject({
      code: 'import_unreadable',
      message: expect.stringMatching(/^Can't read missing\.csv: file not found\.$/),
    });
    const large = write('large.csv', '');
    truncateSync(large, 65 << 20);
    await expect(attempt(large)).rejects.toMatchObject({ code: 'import_too_large' });
  });

  test('the CLI imports files of one name from different folders, and skips those without metrics', async () => {
    for (const [folder, values] of [
      ['a', [0.1, 0.2]],
      ['b', [0.7, 0.8, 0.9]],
      ['c', []],
    ] as const) {
      mkdirSync(join(world.folder, folder));
      const rows = values.map((value, index) => `${index + 1},${value}\n`).join('');
      write(`${folder}/metrics.csv`, `step,success\n${rows}`);
    }
    const paths = ['a', 'b', 'c'].map((folder) => join(world.folder, folder, 'metrics.csv'));
    const { status, output, errors } = await starpoHere(['import', ...paths, '--json'], world.environment());
    expect(status).toBe(0);
    expect(errors).toMatch(/^warning: The run "metrics" was skipped: The table is empty\./);
    const core = await world.core();
    const imported = JSON.parse(output) as { runId: string; file: string }[];
    expect(imported.map(({ file }) => file)).toEqual(['a/metrics.csv', 'b/metrics.csv']);
    expect(imported.map(({ runId }) => core.runs.get(runId).latest['rollout/success_rate'])).toEqual([0.2, 0.9]);
  });

  test('the CLI imports a file', async () => {
    const path = write('my run.csv', 'step,reward,junk,kl\n1,0.5,x,0\n2,0.75,y,0\n');
    const run = (...args: string[]) => starpoHere(args, world.environment());
    const { status, output, errors } = await run('import', path, '--name', 'Other run');
    expect({ status, errors }).toEqual({
      status: 0,
      errors: 'warning: Column "junk" was skipped: it is not numeric.\n',
    });
    const lines = output.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '  reward -> rollout/reward_mean',
      '  kl -> actor/kl_to_reference',
      'my run.csv (csv, other): 2 metrics, 2 recognized, 2 steps',
    ]);
    const runId = lines.at(-1)!;
    expect(runId).toMatch(/^other-run-[0-9a-f]{8}$/);
    const shown = await run('show', runId);
    expect(shown).toMatchObject({ status: 0, output: expect.stringMatching(/status +completed/) });
    expect(await run('evaluate', runId)).toMatchObject({
      status: 2,
      errors: expect.stringContaining('run_imported'),
    });
    expect(await run('import', path, '--from', 'verl')).toMatchObject({
      status: 2,
      errors: expect.stringContaining('import_no_metric'),
    });
    const config = join(world.home, 'runs', runId, 'run.json');
    expect(JSON.parse(readFileSync(config, 'utf8')).imported).toEqual({
      name: 'Other run',
      file: 'my run.csv',
      from: 'other',
      metrics: { 'rollout/reward_mean': 'reward', 'actor/kl_to_reference': 'kl' },
    });
    expect(readdirSync(join(world.home, 'exchange'))).toEqual([]);
    expect(readdirSync(join(world.home, 'runs'))).toEqual([runId]);
  });
});
