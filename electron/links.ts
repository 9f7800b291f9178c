/** Links to places in the app, as other programs open them: `starpo://run/ID/replay` is `#/run/ID/replay`. */

export const linkScheme = 'starpo';

/** Longest link that any page has. */
const longest = 2048;
/** What the app's own addresses are made of; nothing of it means anything outside the fragment that it becomes. */
const place = /^[\w.~%-]+(\/[\w.~%-]+)*$/;

/** The page that a link means, as the hash of an address; null for what is none. */
export function pageOfLink(link: string): string | null {
  if (link.length > longest || !link.startsWith(`${linkScheme}://`)) return null;
  const path = link.slice(linkScheme.length + 3).replace(/\/+$/, '');
  return place.test(path) && !path.split('/').includes('..') ? `#/${path}` : null;
}

/** The page that the last link among a program's arguments means; null where there is none. */
export const pageOfArguments = (args: readonly string[]): string | null =>
  args.reduce<string | null>((found, argument) => pageOfLink(argument) ?? found, null);

/** Arguments for a restart: the page that a link asked for was shown, and isn't asked for again. */
export const withoutLinks = (args: readonly string[]): string[] =>
  args.filter((argument) => !argument.startsWith(`${linkScheme}:`));
