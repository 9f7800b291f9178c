import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Runs an app's folder as `electron FOLDER` would, under plain Node: the `main` of its package.json, unchanged, with a stand-in for the
 * `electron` module whose windows are pages of the Chromium that STAND_IN_BROWSER (a DevTools address) names. It shows how the app's parts
 * are wired; Electron's own behaviour (sandbox, menus, dialogs, a second instance, packaging) it can't show.
 */
const folder = resolve(process.argv[2] ?? '.');
const standIn = pathToFileURL(join(import.meta.dirname, 'electron.ts')).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : next(specifier, context),
});

const { main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const require = createRequire(join(folder, 'package.json'));
require(join(folder, main));
