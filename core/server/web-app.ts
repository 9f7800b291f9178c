import { readFile } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';
import { Hono } from 'hono';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Allows scripts and styles only from the app's own files, and workers only from blobs that these scripts create. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  'worker-src blob:',
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Serves the built renderer with security headers, over HTTP and over Electron's `app://`. */
export function createWebApp(folder: string): Hono {
  const root = resolve(folder);
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value);
  });
  app.get('*', async (context) => {
    const file = locate(root, context.req.path);
    const bytes = file ? await readFile(file).catch(() => null) : null;
    if (!file || !bytes) return context.text(missing(context.req.path), 404);
    const cache = context.req.path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    const type = types[extname(file)] ?? 'application/octet-stream';
    return context.body(new Uint8Array(bytes), 200, { 'Content-Type': type, 'Cache-Control': cache });
  });
  app.all('*', (context) => context.text('Use GET.', 405));
  return app;
}

/** Returns the file for a URL path, or null if it is outside the folder. */
function locate(root: string, path: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return null;
  }
  if (decoded.includes('\0')) return null;
  const file = resolve(join(root, decoded === '/' ? 'index.html' : decoded));
  return file.startsWith(root + sep) ? file : null;
}

const missing = (path: string) =>
  path === '/' ? 'StarPO Studio is not built. Run `npm run setup`, then load this page again.\n' : 'Page not found.\n';
