import { environmentOf } from '../../environments/registry.ts';

/** What an environment is called; one that this version doesn't know goes by its type. */
export const environmentWords = (type: string): string => environmentOf(type).title;
