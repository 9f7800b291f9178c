import { appOrigin } from '../../../electron/security.ts';

/**
 * Replaces {@link appOrigin} in Chromium, which doesn't know the app's scheme. It doesn't resolve: the app answers all requests.
 * It uses https to be a secure context.
 */
const standInOrigin = 'https://studio.test';

/** Maps an app address to Chromium; leaves others unchanged. */
export const toPage = (address: string) => exchange(address, appOrigin, standInOrigin);

/** Maps a Chromium address to the app; leaves others unchanged. */
export const toApp = (address: string) => exchange(address, standInOrigin, appOrigin);

function exchange(address: string, from: string, to: string): string {
  return address === from || address.startsWith(`${from}/`) ? to + address.slice(from.length) : address;
}
