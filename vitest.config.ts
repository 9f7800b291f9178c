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

export default defineConfig({
  test: {
    // vitest's default leaves a core free, which halves the speed on two cores. More than two workers slow the native tests.
    maxWorkers: Math.max(availableParallelism() - 1, 2),
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          expect: patient,
          execArgv,
          include: ['electron/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: ['tests/e2e/**', 'tests/renderer/**'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // The build of React that users run. The development build takes a fifth more processor time.
        plugins: [react()],
        oxc: { jsx: { development: false } },
        resolve: { alias: [{ find: /^uplot$/, replacement: join(import.meta.dirname, 'tests/renderer/uplot.ts') }] },
        test: {
          name: 'renderer',
          environment: 'jsdom',
          env: { NODE_ENV: 'production' },
          // Sharing modules takes 40 % less processor time, but rules out vi.mock: it doesn't replace a module that another file has loaded.
          isolate: false,
          setupFiles: ['tests/renderer/clean-up.ts'],
          expect: patient,
          execArgv,
          include: ['tests/renderer/**/*.test.{ts,tsx}'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
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
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
