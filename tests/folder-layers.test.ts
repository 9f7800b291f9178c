import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { coreLayers } from '../scripts/lib/core-layers.mjs';
import { checkFolderLayers, wrongImport } from '../scripts/lib/folder-layers.mjs';
import { rendererLayers } from '../scripts/lib/renderer-layers.mjs';

test('a folder of core imports itself and the layers below it', () => {
  const wrong = (file: string, imported: string) => wrongImport(coreLayers, file, imported);
  expect(wrong('runs/create-run.ts', 'run-sync/supervisor.ts')).toBeUndefined();
  expect(wrong('runs/create-run.ts', 'runs/fork.ts')).toBeUndefined();
  expect(wrong('server/http.ts', 'index.ts')).toBeUndefined();
  expect(wrong('run-sync/supervisor.ts', 'runs/create-run.ts')).toBe('run-sync/ is not above runs/');
  expect(wrong('queue/queue.ts', 'models/hub.ts')).toBe('queue/ is not above models/');
  expect(wrong('attic/old.ts', 'base/tasks.ts')).toContain('attic/ is not assigned to a layer');
});

test('pages of the renderer share code through the layers below them only', () => {
  const wrong = (file: string, imported: string) => wrongImport(rendererLayers, file, imported);
  expect(wrong('pages/run/run-page.tsx', 'pages/run/echo-trap/panel.tsx')).toBeUndefined();
  expect(wrong('pages/run/run-page.tsx', 'wall/wall.tsx')).toBeUndefined();
  expect(wrong('pages/run/run-page.tsx', 'pages/new/draft.ts')).toBe('pages do not import each other');
  expect(wrong('charts/chart.tsx', 'pages/run/run-page.tsx')).toBe('charts/ is not above pages/');
});

test('a deliberate upward import fails the check', () => {
  const root = mkdtempSync(join(tmpdir(), 'starpo-layers-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const files = {
    'core/base/tasks.ts': "import type { Runs } from '../runs/runs.ts';\n",
    'core/runs/runs.ts': "import { z } from 'zod';\nimport '../base/tasks.ts';\n",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  expect(checkFolderLayers(root, 'core', coreLayers)).toEqual([
    'core/base/tasks.ts imports core/runs/runs.ts: base/ is not above runs/.',
  ]);
});
