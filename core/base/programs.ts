import { delimiter, join } from 'node:path';
import { defaultResources } from './home.ts';

/** Returns the folder of the app's own environment programs, such as `starpo-openenv`. */
export const programsFolder = (): string => join(process.env.STARPO_RESOURCES ?? defaultResources, 'programs');

/** Returns the PATH of environment programs: the user's, then the app's. */
export const programsPath = (): string => [process.env.PATH ?? '', programsFolder()].filter(Boolean).join(delimiter);
