import type { App, Session, WebContents } from 'electron';

/** Origin of the app's page. A custom scheme, because file:// grants more rights than needed. */
export const appScheme = 'app';
export const appOrigin = `${appScheme}://studio`;

const grantedPermissions = new Set(['notifications', 'clipboard-sanitized-write']);

/** Returns whether an address is a page of the app. */
export function isOwnPage(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && `${url.protocol}//${url.host}` === appOrigin;
}

/** Returns whether a message comes from the main frame of the app's page. */
export function isOwnFrame(frame: { url: string; parent: unknown } | null): boolean {
  return frame !== null && frame.parent === null && isOwnPage(frame.url);
}

/** Prevents pages from navigating away, opening windows and embedding web views. Links open in the browser (outside.ts). */
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

/** Grants only the permissions that the app needs, and only to its own pages. */
export function guardPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, answer, details) => {
    answer(grantedPermissions.has(permission) && isOwnPage(details.requestingUrl));
  });
  session.setPermissionCheckHandler(
    (_contents, permission, origin) => grantedPermissions.has(permission) && isOwnPage(origin),
  );
}
