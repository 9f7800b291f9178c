import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { pinnedNode, root } from '../../scripts/lib/process.mjs';

export const screenshots = join(root, 'tests/e2e/output');

/** `starpo serve` on a data folder. */
export interface Served {
  address: string;
  /** Ends the server with `signal`, by default SIGTERM; trainers continue. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Runs the build, like `npm start`. */
export async function serve(home: string, port = '0'): Promise<Served> {
  const core = spawn(pinnedNode(), ['out/main/cli.cjs', 'serve', '--port', port], {
    cwd: root,
    env: { ...process.env, STARPO_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { address: await printedAddress(core), end: (signal) => end(core, signal) };
}

/** `starpo serve` on a free port with a temporary data folder. */
export interface Studio {
  address: string;
  home: string;
  /** Ends the server and its trainers and deletes the data folder. */
  close(): Promise<void>;
}

export async function startStudio(): Promise<Studio> {
  const home = mkdtempSync(join(tmpdir(), 'starpo-e2e-'));
  const served = await serve(home);
  return {
    address: served.address,
    home,
    close: async () => {
      await served.end();
      endTrainers(home);
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Resolves with the first address that the server prints, which has the sign-in code. Rejects with its output if it exits before. */
function printedAddress(core: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const address = output.match(/(http:\/\/\S+)\s/)?.[1];
      if (address) resolve(address);
    };
    core.stdout?.on('data', read);
    core.stderr?.on('data', read);
    core.once('exit', (status) => reject(new Error(`starpo serve ended with status ${status}:\n${output}`)));
  });
}

export async function end(core: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (core.exitCode !== null || core.signalCode !== null) return;
  const ended = once(core, 'exit');
  core.kill(signal);
  const timeout = setTimeout(() => core.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timeout);
}

/** Ends trainers, which outlive the server on purpose. Checks the process, because a lock file may outlive its trainer. */
export function endTrainers(home: string): void {
  for (const lock of globSync(join(home, 'runs/*/trainer.lock'))) {
    try {
      const { pid } = JSON.parse(readFileSync(lock, 'utf8'));
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(home)) process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
}

/** A Chromium page that collects the browser's errors and warnings. */
export interface Visitor {
  page: Page;
  /** Saves a screenshot as tests/e2e/output/NAME.png. */
  screenshot(name: string): Promise<void>;
  /** Throws after console errors, warnings or uncaught exceptions. */
  expectNoComplaints(): void;
  close(): Promise<void>;
}

export async function visit(
  address: string,
  { colorScheme = 'light' }: { colorScheme?: 'light' | 'dark' } = {},
): Promise<Visitor> {
  const browser: Browser = await chromium.launch({
    executablePath: chromiumPath(),
  });
  const page = await browser.newPage({ colorScheme, viewport: { width: 1360, height: 880 } });
  // The first evaluation is slow on a loaded machine. The timeout is shorter than the test's.
  page.setDefaultTimeout(200_000);
  const complaints = collectComplaints(page);
  await page.goto(address);
  return {
    page,
    screenshot: async (name) => {
      mkdirSync(screenshots, { recursive: true });
      await page.screenshot({ path: join(screenshots, `${name}.png`) });
    },
    expectNoComplaints: () => expect(complaints).toEqual([]),
    close: () => browser.close(),
  };
}

/** Collects a page's console errors and warnings, uncaught exceptions and failed requests. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  return complaints;
}
