import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkCycles } from '../scripts/lib/import-circles.mjs';

function cyclesOf(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'starpo-circles-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return checkCycles(root, ['core', 'renderer']);
}

const advice = ': move what they share into a file that both import.';

test('reports the shortest cycle through a file, including type imports and dynamic imports', () => {
  expect(
    cyclesOf({
      'core/contract/failure.ts': "import { z } from 'zod';\n",
      'core/runs/runs.ts': "import { Failure } from '../contract/failure.ts';\nimport './wait.ts';\n",
      'core/runs/supervisor.ts': "export * from './runs.ts';\nimport './wait.ts';\n",
      'core/runs/wait.ts': "import type {\n  Supervisor,\n} from './supervisor.ts';\n",
      'renderer/pages/page.tsx': "const list = () => import('../list.tsx');\n",
      'renderer/list.tsx': "import { type Item } from './pages/page.tsx';\n",
    }),
  ).toEqual([
    `core/runs/runs.ts imports core/runs/wait.ts imports core/runs/supervisor.ts imports core/runs/runs.ts${advice}`,
    `renderer/list.tsx imports renderer/pages/page.tsx imports renderer/list.tsx${advice}`,
  ]);
});

test('a diamond is not a cycle, nor is a file that only imports one', () => {
  expect(
    cyclesOf({
      'core/index.ts': "import './runs.ts';\nimport './queue.ts';\n",
      'core/runs.ts': "import { runFiles } from './names.ts';\nimport description from './description.json';\n",
      'core/queue.ts': "import { runFiles } from './names.ts';\nimport './runs.ts';\n",
      'core/names.ts': "import { join } from 'node:path';\n",
      'renderer/app.tsx': "import './main.tsx';\n",
      'renderer/main.tsx': "import { main } from './main.tsx';\n",
    }),
  ).toEqual([`renderer/main.tsx imports renderer/main.tsx${advice}`]);
});
