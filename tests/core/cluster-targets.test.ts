import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Targets } from '../../core/cluster/targets.ts';
import { readFields, slurmTarget, targetFields } from '../../core/contract/cluster-targets.ts';
import { World } from './fixtures/world.ts';

test('targets are saved, renamed and removed without changing the others', async () => {
  const world = new World();
  const targets = new Targets(world.home);
  const given = { type: 'slurm', time: '4:00:00' } as const;
  const save = (name: string, settings: object, was?: string) =>
    targets.save(name, slurmTarget.parse({ ...given, ...settings }), was);
  save('a', {});
  save('b', { partition: 'gpu' });
  save('c', { cpus: 8, gpus: 1 }, 'a');
  // Without defaults, in their order.
  expect(JSON.parse(readFileSync(targets.path, 'utf8'))).toEqual({
    version: 1,
    targets: { c: { ...given, cpus: 8 }, b: { ...given, partition: 'gpu' } },
  });
  expect(Object.keys(targets.read())).toEqual(['c', 'b']);
  expect(() => save('b', {})).toThrow(expect.objectContaining({ code: 'target_exists' }));
  targets.remove('c');
  expect(() => targets.remove('c')).toThrow(expect.objectContaining({ code: 'target_unknown' }));
  expect(Object.keys(targets.read())).toEqual(['b']);
  // A file that can't be read is not replaced.
  writeFileSync(targets.path, '{');
  expect(() => save('d', {})).toThrow(expect.objectContaining({ code: 'targets_invalid' }));
  expect(readFileSync(targets.path, 'utf8')).toBe('{');
  await world.close();
});

test('a target is read from the fields of a form, which have the words and defaults of its schema', () => {
  const titles = targetFields.map(({ name, kind, required, fallback }) => [name, kind, required, fallback]);
  expect(titles).toContainEqual(['time', 'text', true, '']);
  expect(titles).toContainEqual(['cpus', 'number', false, '4']);
  expect(titles).toContainEqual(['setup', 'lines', false, '']);
  expect(targetFields.every(({ title, description }) => title && description)).toBe(true);
  const texts = {
    time: ' 2:00:00 ',
    cpus: '4',
    gpus: '0',
    setup: 'if true; then\n  module load cuda \n\nfi\n',
    partition: '',
  };
  const settings = {
    type: 'slurm',
    time: '2:00:00',
    cpus: 4,
    gpus: 0,
    setup: ['if true; then', '  module load cuda', 'fi'],
  };
  expect(readFields(texts)).toEqual(settings);
  const problems = slurmTarget.safeParse(readFields({ cpus: 'many', partition: 'a b', extra: 'x' })).error!.issues;
  expect(problems.map(({ path, message }) => `${String(path[0])} ${message}`)).toEqual([
    'partition must contain only letters, digits and . , : = / % @ + - _',
    'time is required',
    'cpus must be a whole number from 1 to 1024',
    'extra must start with --',
  ]);
});
