import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
// Compiles the programs that tests start once.
import './scripts/lib/process.mjs';

/** A long timeout for busy machines, and a short interval to react quickly. */
const patient = { poll: { timeout: 30_000, interval: 20 } };

/** With more memory for new objects, tests take an eighth less processor time. */
const execArgv = ['--max-semi-space-size=32', '--min-semi-space-size=16'];

const ofNode = ['electron/**/*.test.ts', 'tests/**/*.test.ts'];
/** Tests that replace a module. */
const mocking = [
  'electron/main.test.ts',
  'electron/preload.test.ts',
  'tests/core/api.test.ts',
  'tests/core/cluster.test.ts',
];
const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // vitest's default leaves a core free, which halves the speed on two cores. More than two workers slow the native tests.
    maxWorkers: Math.max(availableParallelism() - 1, 2),
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          // Sharing modules takes a second less processor time per file, but rules out vi.mock: it doesn't replace a module that another file has loaded.
          isolate: false,
          setupFiles: ['tests/clean-up.ts'],
          expect: patient,
          execArgv,
          include: ofNode,
          exclude: ['tests/e2e/**', 'tests/renderer/**', ...mocking],
          ...timeouts,
        },
      },
      {
        test: { name: 'mocking', environment: 'node', expect: patient, execArgv, include: mocking, ...timeouts },
      },
      {
        plugins: [react()],
        resolve: { alias: [{ find: /^uplot$/, replacement: join(import.meta.dirname, 'tests/renderer/uplot.ts') }] },
        test: {
          name: 'renderer',
          environment: 'jsdom',
          isolate: false,
          setupFiles: ['tests/clean-up.ts', 'tests/renderer/clean-up.ts'],
          expect: patient,
          execArgv,
          include: ['tests/renderer/**/*.test.{ts,tsx}'],
          ...timeouts,
        },
      },
      {
        test: {
          name: 'e2e',
          environment: 'node',
          expect: patient,
          execArgv,
          include: ['tests/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 200_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
