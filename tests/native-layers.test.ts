import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkLayers, wrongInclude } from '../scripts/lib/native-layers.mjs';

test('a file includes its own layer and lower ones', () => {
  expect(wrongInclude('train/run/train.cpp', 'algorithm/filter.h')).toBeUndefined();
  expect(wrongInclude('algorithm/filter.h', 'algorithm/statistics.h')).toBeUndefined();
  expect(wrongInclude('main.cpp', 'cli/commands.h')).toBeUndefined();
  expect(wrongInclude('journal/stamp.cpp', 'build_version.h')).toBeUndefined();
  expect(wrongInclude('algorithm/filter.h', 'config/run_config.h')).toBe('algorithm/ is below config/');
  expect(wrongInclude('train/run/train.cpp', 'train/metrics/average.h')).toBeUndefined();
  expect(wrongInclude('train/metrics/average.h', 'train/run/train.h')).toBe('train/metrics/ is below train/run/');
  expect(wrongInclude('algorithm/filter.h', 'filter.h')).toContain('has no layer');
  expect(wrongInclude('attic/old.h', 'base/error.h')).toContain('attic/ is not assigned to a layer');
});

test('only the factory includes engines; an engine includes itself and the interface', () => {
  expect(wrongInclude('engine/engine.cpp', 'engine/cuda/engine/make_engine.h')).toBeUndefined();
  expect(wrongInclude('engine/cpu/model.cpp', 'engine/engine.h')).toBeUndefined();
  expect(wrongInclude('engine/cuda/engine/generator.cpp', 'engine/cuda/lt/api.h')).toBeUndefined();
  expect(wrongInclude('rollout/rollout.cpp', 'engine/engine.h')).toBeUndefined();
  expect(wrongInclude('engine/generator.h', 'engine/cpu/decoder.h')).toContain('only engine/engine.cpp');
  expect(wrongInclude('engine/cuda/kernels/adamw.h', 'engine/cpu/adamw.h')).toContain('siblings');
  expect(wrongInclude('train/update/critic.cpp', 'engine/cpu/value_head.h')).toContain('use the interface in engine/');
});

test('reports wrong includes per file, and unused exceptions', () => {
  const source = mkdtempSync(join(tmpdir(), 'starpo-layers-'));
  onTestFinished(() => rmSync(source, { recursive: true }));
  const put = (file: string, text: string) => {
    mkdirSync(dirname(join(source, file)), { recursive: true });
    writeFileSync(join(source, file), text);
  };
  put('base/error.h', '#include <string>\n#include "env/protocol.h"\n');
  put('model/folder.cpp', '#include "base/error.h"\n#include "train/run/train.h"\n');
  expect(checkLayers(source, { 'base/error.h': ['env/protocol.h'], 'cli/score.cpp': ['engine/cpu/model.h'] })).toEqual([
    'native/src/model/folder.cpp includes "train/run/train.h": model/ is below train/.',
    'scripts/lib/native-layers.mjs allows cli/score.cpp to include "engine/cpu/model.h", but cli/score.cpp doesn\'t need the exception: remove it.',
  ]);
});
