import { linkScheme } from '../core/contract/bridge.ts';

/** Links that open pages of the app: `starpo://run/ID/replay` is `#/run/ID/replay`. */

/** Maximum length of a link. */
const longest = 2048;
/** Characters of the app's addresses, all harmless in a URL fragment. */
const place = /^[\w.~%-]+(\/[\w.~%-]+)*$/;

/** Returns the page for a link, as a URL hash; null if invalid. */
export function pageOfLink(link: string): string | null {
  if (link.length > longest || !link.startsWith(`${linkScheme}://`)) return null;
  const path = link.slice(linkScheme.length + 3).replace(/\/+$/, '');
  return place.test(path) && !path.split('/').includes('..') ? `#/${path}` : null;
}

/** Returns the page for the last link in command-line arguments; null if none. */
export const pageOfArguments = (args: readonly string[]): string | null =>
  args.reduce<string | null>((found, argument) => pageOfLink(argument) ?? found, null);

/** Arguments for a restart, without links that were already opened. */
export const withoutLinks = (args: readonly string[]): string[] =>
  args.filter((argument) => !argument.startsWith(`${linkScheme}:`));
