import type { App, Session, WebContents } from 'electron';

/** Where the app's own page lives. A scheme of our own, since file:// gives a page more rights than it needs. */
export const appScheme = 'app';
export const appOrigin = `${appScheme}://studio`;

const grantedPermissions = new Set(['notifications', 'clipboard-sanitized-write']);

/** Whether an address is one of the app's own pages. */
export function isOwnPage(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && `${url.protocol}//${url.host}` === appOrigin;
}

/** Whether a message comes from the app's own page, from its main frame and not one embedded in it. */
export function isOwnFrame(frame: { url: string; parent: unknown } | null): boolean {
  return frame !== null && frame.parent === null && isOwnPage(frame.url);
}

/** Lets no page of the app leave it, open a window, or embed a web view; links go outside (outside.ts). */
export function guardContents(app: App, openOutside: (address: string) => void): void {
  app.on('web-contents-created', (_event, contents: WebContents) => {
    contents.on('will-navigate', (event) => {
      if (!isOwnPage(event.url)) event.preventDefault();
    });
    contents.on('will-redirect', (event) => {
      if (!isOwnPage(event.url)) event.preventDefault();
    });
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(({ url }) => {
      openOutside(url);
      return { action: 'deny' };
    });
  });
}

/** Denies every permission that the app doesn't need, and all of them to pages that aren't its own. */
export function guardPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, answer, details) => {
    answer(grantedPermissions.has(permission) && isOwnPage(details.requestingUrl));
  });
  session.setPermissionCheckHandler(
    (_contents, permission, origin) => grantedPermissions.has(permission) && isOwnPage(origin),
  );
}
