import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkLayers, misplaced } from '../scripts/lib/native-layers.mjs';

test('a file includes its own floor and those below it', () => {
  expect(misplaced('train/run/train.cpp', 'algorithm/filter.h')).toBeUndefined();
  expect(misplaced('algorithm/filter.h', 'algorithm/statistics.h')).toBeUndefined();
  expect(misplaced('main.cpp', 'cli/commands.h')).toBeUndefined();
  expect(misplaced('journal/stamp.cpp', 'build_version.h')).toBeUndefined();
  expect(misplaced('algorithm/filter.h', 'config/run_config.h')).toBe('algorithm/ stands below config/');
  expect(misplaced('train/run/train.cpp', 'train/metrics/average.h')).toBeUndefined();
  expect(misplaced('train/metrics/average.h', 'train/run/train.h')).toBe(
    'train/metrics/ stands below train/run/',
  );
  expect(misplaced('algorithm/filter.h', 'filter.h')).toContain('on no floor');
  expect(misplaced('attic/old.h', 'base/error.h')).toContain('attic/ is no floor');
});

test('an engine knows the seam and itself, the factory all of them, and nobody else any', () => {
  expect(misplaced('engine/engine.cpp', 'engine/cuda/engine/make_engine.h')).toBeUndefined();
  expect(misplaced('engine/cpu/model.cpp', 'engine/engine.h')).toBeUndefined();
  expect(misplaced('engine/cuda/engine/generator.cpp', 'engine/cuda/lt/api.h')).toBeUndefined();
  expect(misplaced('rollout/rollout.cpp', 'engine/engine.h')).toBeUndefined();
  expect(misplaced('engine/generator.h', 'engine/cpu/decoder.h')).toContain('engine/engine.cpp alone');
  expect(misplaced('engine/cuda/kernels/adamw.h', 'engine/cpu/adamw.h')).toContain('side by side');
  expect(misplaced('train/update/critic.cpp', 'engine/cpu/value_head.h')).toContain('through the seam');
});

test('what is wrong is said file by file, and so is an exception that nothing needs any more', () => {
  const source = mkdtempSync(join(tmpdir(), 'starpo-layers-'));
  onTestFinished(() => rmSync(source, { recursive: true }));
  const put = (file: string, text: string) => {
    mkdirSync(dirname(join(source, file)), { recursive: true });
    writeFileSync(join(source, file), text);
  };
  put('base/error.h', '#include <string>\n#include "env/protocol.h"\n');
  put('model/folder.cpp', '#include "base/error.h"\n#include "train/run/train.h"\n');
  expect(
    checkLayers(source, { 'base/error.h': ['env/protocol.h'], 'cli/score.cpp': ['engine/cpu/model.h'] }),
  ).toEqual([
    'native/src/model/folder.cpp includes "train/run/train.h": model/ stands below train/.',
    'scripts/lib/native-layers.mjs allows cli/score.cpp "engine/cpu/model.h", which it doesn\'t include: take it out.',
  ]);
});
