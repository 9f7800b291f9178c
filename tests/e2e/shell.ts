import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { _electron, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { chooseFront, installedElectron } from '../../scripts/lib/front.mjs';
import { pinnedNode, root } from '../../scripts/lib/process.mjs';
import { end } from './studio.ts';

/** The desktop app, running with its window open. */
export interface Shell {
  page: Page;
  /** Exit status; resolves when the app exits. */
  ended: Promise<number | null>;
  /** Resolves with the first match in the app's output, past or future; rejects with the output after two minutes. */
  output(pattern: RegExp): Promise<RegExpExecArray>;
  /** Performs user actions on the desktop; only with the stand-in (stand-in/desk.ts). */
  act(action: object): void;
  /** Kills the app. */
  close(): Promise<void>;
}

/** Opens the built app on a data folder. */
export interface Desktop {
  open(home: string, environment?: Record<string, string>): Promise<Shell>;
  close(): Promise<void>;
}

const outputTimeout = 120_000;

/** Runs the built main process, preload and page unchanged on plain Node, with Chromium for windows; see stand-in/run.ts. */
export async function standInDesktop(folder = root): Promise<Desktop> {
  const profile = mkdtempSync(join(tmpdir(), 'starpo-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    viewport: { width: 1360, height: 880 },
    args: ['--remote-debugging-port=0'],
  });
  context.setDefaultTimeout(120_000);
  const [port] = readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n');
  return {
    open: async (home, environment = {}) => {
      const opened = context.waitForEvent('page', { timeout: 60_000 });
      const app = spawn(pinnedNode(), ['tests/e2e/stand-in/run.ts', folder], {
        cwd: root,
        env: {
          ...process.env,
          STARPO_HOME: home,
          STAND_IN_BROWSER: `http://127.0.0.1:${port}`,
          ...environment,
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      return { ...(await shellOf(app, opened)), close: () => end(app) };
    },
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function shellOf(app: ChildProcess, opened: Promise<Page>): Promise<Omit<Shell, 'close'>> {
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [app.stdout, app.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk;
      for (const listener of [...listeners]) listener();
    });
  const output = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const timer = setTimeout(() => {
        listeners.delete(check);
        reject(new Error(`No output matched ${pattern}:\n${text}`));
      }, outputTimeout);
      const check = () => {
        const found = pattern.exec(text);
        if (!found) return;
        clearTimeout(timer);
        listeners.delete(check);
        resolve(found);
      };
      listeners.add(check);
      check();
    });
  const ended = once(app, 'exit').then(([status]: (number | null)[]) => status ?? null);
  const exitedEarly = ended.then((status) => {
    throw new Error(`The app exited with status ${status} before its window opened:\n${text}`);
  });
  const act = (action: object) => void app.stdin?.write(`${JSON.stringify(action)}\n`);
  return { page: await Promise.race([opened, exitedEarly]), ended, output, act };
}

/** Returns why Electron can't run on this machine, or null. */
export function electronMissing(): string | null {
  if (!installedElectron())
    return "Electron's binary is not installed; `node node_modules/electron/install.js` fetches it";
  const machine = { platform: process.platform, environment: process.env };
  if (chooseFront({ ...machine, superuser: process.getuid?.() === 0 }) !== 'electron')
    return 'Electron needs a display and a user that is not root';
  return null;
}

/** Runs Electron with its own profile, so that it ignores a running app. */
export function electronDesktop(): Desktop {
  const profile = mkdtempSync(join(tmpdir(), 'starpo-electron-'));
  return {
    open: async (home) => {
      const app = await _electron.launch({
        executablePath: installedElectron()!,
        args: [root],
        env: { ...definedOnly(process.env), STARPO_HOME: home, XDG_CONFIG_HOME: profile },
      });
      const child = app.process();
      const ended = once(child, 'exit').then(([status]: (number | null)[]) => status ?? null);
      const never = () => {
        throw new Error('Only the stand-in simulates user actions on the desktop.');
      };
      return { page: await app.firstWindow(), ended, output: never, act: never, close: () => end(child) };
    },
    close: async () => rmSync(profile, { recursive: true, force: true, maxRetries: 10 }),
  };
}

const definedOnly = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
