import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The renderer's built files, which are served to browsers. */
export const webFolder = join(import.meta.dirname, '../../out/renderer');

/** False in a checkout that was never set up. */
export const hasWebFolder = () => existsSync(join(webFolder, 'index.html'));
