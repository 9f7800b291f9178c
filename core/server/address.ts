import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const defaultPort = 7717;

/** Folder of the built renderer in a checkout. */
export const webFolder = join(import.meta.dirname, '../../out/renderer');

/** Returns false in a checkout that was never built. */
export const hasWebFolder = () => existsSync(join(webFolder, 'index.html'));

/** Returns an address that signs a browser in and shows a page, such as `/run/ID`. */
export const pageOf = (origin: string, code: string, page = '') => `${origin}/#sign-in=${code}${page}`;
