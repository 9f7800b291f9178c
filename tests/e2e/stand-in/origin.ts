import { appOrigin } from '../../../electron/security.ts';

/**
 * Chromium knows no scheme of ours outside Electron, so a page's address begins with this origin where the app says {@link appOrigin}.
 * It resolves nowhere: every request to it is answered by the app. https, for the rights of a secure page.
 */
const standInOrigin = 'https://studio.test';

/** The address in Chromium of an address of the app's; others stay as they are. */
export const toPage = (address: string) => exchange(address, appOrigin, standInOrigin);

/** The app's address of an address in Chromium; others stay as they are. */
export const toApp = (address: string) => exchange(address, standInOrigin, appOrigin);

function exchange(address: string, from: string, to: string): string {
  return address === from || address.startsWith(`${from}/`) ? to + address.slice(from.length) : address;
}
