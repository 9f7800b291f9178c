import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { root } from '../../scripts/lib/process.mjs';
import { type Served, serve } from './studio.ts';

let home: string;
let served: Served | undefined;
let browser: Browser;
let context: BrowserContext;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'starpo-sign-in-'));
  browser = await chromium.launch({ executablePath: chromiumPath() });
  context = await browser.newContext();
  context.setDefaultTimeout(120_000);
});
afterEach(async () => {
  await browser.close();
  await served?.end();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const open = async (address: string, where = context) => {
  const page = await where.newPage();
  await page.goto(address);
  return page;
};
const isSignedIn = (page: Page) =>
  page
    .getByRole('button', { name: /^Start FrozenLake/ })
    .first()
    .waitFor();
const field = (page: Page) => page.getByLabel(/This tab isn't signed in\. Paste the address/);
/** Returns everything stored for the origin. */
const stored = (page: Page) =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));

test('one address signs in all tabs of a browser, but no other browser', async () => {
  served = await serve(home);
  const { origin, hash } = new URL(served.address);
  const first = await open(served.address);
  await isSignedIn(first);
  expect(first.url()).toBe(`${origin}/#/start`);
  await isSignedIn(await open(origin));
  await isSignedIn(await open(`${origin}/#/start`));

  const other = await open(`${origin}/#/run/any`, await browser.newContext());
  await other.getByRole('heading', { name: 'Not signed in' }).waitFor();
  expect(await other.getByText('Loading').count()).toBe(0);
  await other.goto(`${origin}/#/start`);
  await field(other).fill('not an address');
  await other.getByRole('button', { name: 'Open', exact: true }).click();
  await other.getByRole('alert').getByText('sign-in').waitFor();
  await field(other).fill(served.address);
  await other.getByRole('button', { name: 'Open', exact: true }).click();
  await isSignedIn(other);

  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const found = await stored(first);
  expect(found).toContain(hash.slice('#sign-in='.length));
  expect(found).not.toContain(token);
  // No stored value is as long as a key.
  expect(found).not.toMatch(/[0-9a-f]{64}/);
  expect(await context.cookies()).toEqual([]);
});

test('an open page reconnects to a later process on the same port and signs in new tabs; stored data opens nothing', async () => {
  served = await serve(home);
  const { address } = served;
  const { origin, port } = new URL(address);
  const page = await open(address);
  await isSignedIn(page);
  await served.end('SIGKILL');
  await page.getByText('Connection lost.').waitFor();

  // Another user's program on the freed port receives only an expired code.
  const received: string[] = [];
  const hostile = createServer((request, response) => {
    received.push(JSON.stringify(request.headers));
    request.on('data', (data: Buffer) => received.push(data.toString()));
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>not ours</title>');
  });
  const reconnecting = new Promise<void>((resolve) => {
    hostile.on('upgrade', (request, socket) => {
      received.push(JSON.stringify(request.headers));
      socket.end('HTTP/1.1 200 OK\r\n\r\n');
      resolve();
    });
  });
  await new Promise<void>((listening) => hostile.listen(Number(port), '127.0.0.1', listening));
  await reconnecting;
  const stolen = await stored(await open(origin));
  hostile.closeAllConnections();
  await new Promise((closed) => hostile.close(closed));
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  for (const text of [...received, stolen]) expect(text).not.toContain(token);

  const later = await serve(home, port);
  served = later;
  await page.getByText('Connection lost.').waitFor({ state: 'detached' });
  await isSignedIn(await open(origin));
  expect(await stored(page)).toContain(new URL(later.address).hash.slice('#sign-in='.length));
  const codes = stolen.match(/[0-9a-f]{32,}/g) ?? [];
  expect(codes.length).toBeGreaterThan(0);
  for (const code of codes) {
    const attacker = await open(`${origin}/#sign-in=${code}`, await browser.newContext());
    await attacker.getByLabel(/sign-in of this tab has expired or is for another server\. Paste the address/).waitFor();
  }
});

test('the page loads all code at startup, because another program could take the port later', () => {
  const built = join(root, 'out/renderer');
  const scripts = globSync('**/*.{js,mjs,cjs}', { cwd: built });
  expect(scripts).toHaveLength(1);
  const page = readFileSync(join(built, 'index.html'), 'utf8');
  expect([...page.matchAll(/<script\b[^>]*>/g)].map(([tag]) => /src="\.\/([^"]+)"/.exec(tag)?.[1])).toEqual(scripts);
  const code = readFileSync(join(built, scripts[0]!), 'utf8');
  // Dynamic imports and names of script files.
  expect(code.match(/.{0,40}\bimport\s*\(.{0,40}/g)).toBeNull();
  expect(code.match(/["'`/][\w./-]+\.[cm]?js["'`?]/g)).toBeNull();
});
