import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Runs an app like `electron FOLDER` on plain Node: the unchanged `main` of its package.json with a stand-in for the `electron`
 * module. Its windows are pages of the Chromium at STAND_IN_BROWSER (a DevTools address). This tests how the app's parts are wired,
 * not Electron's behavior (sandbox, menus, dialogs, second instance, packaging).
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
