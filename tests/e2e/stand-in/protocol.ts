import type { Page } from 'playwright-core';
import { toApp } from './origin.ts';

type Handler = (request: Request) => Response | Promise<Response>;

const handlers = new Map<string, Handler>();

export const protocol = {
  registerSchemesAsPrivileged(): void {},
  handle: (scheme: string, handler: Handler) => void handlers.set(`${scheme}:`, handler),
};

/** Answers a page's requests with their scheme's handler; blocks all others. */
export async function routeRequests(page: Page): Promise<void> {
  await page.route('**/*', async (route) => {
    const request = route.request();
    const address = toApp(request.url());
    const handler = handlers.get(new URL(address).protocol);
    if (!handler) return route.abort('blockedbyclient');
    const response = await handler(new Request(address, { method: request.method() }));
    await route.fulfill({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    });
  });
}
