import { availableParallelism } from 'node:os';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
// Has whatever the tests start compiled once.
import './scripts/lib/process.mjs';

/** Beside other work, what is waited for may take long; what comes is seen soon. */
const patient = { poll: { timeout: 30_000, interval: 20 } };

export default defineConfig({
  test: {
    // By itself vitest leaves a core free, which on two cores halves its speed; most tests wait for other processes anyway.
    maxWorkers: Math.max(availableParallelism() - 1, 2),
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          expect: patient,
          include: ['electron/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: ['tests/e2e/**', 'tests/renderer/**'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [react()],
        test: {
          name: 'renderer',
          environment: 'jsdom',
          expect: patient,
          include: ['tests/renderer/**/*.test.{ts,tsx}'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          environment: 'node',
          expect: patient,
          include: ['tests/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
