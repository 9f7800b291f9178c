import { inDesktop } from '../api/files.ts';
import { Button } from '../components/basics.tsx';
import { useApp } from '../stores/app-store.ts';
import { SignIn } from './sign-in.tsx';

/** Explains why the data folder is read-only. */
export function ReadOnlyNote() {
  const readOnly = useApp(({ system }) => system?.readOnly ?? null);
  if (!readOnly) return null;
  return (
    <div className="banner" role="status">
      <strong>Read-only data folder.</strong> {readOnly.message} {readOnly.hint}
    </div>
  );
}

/** Replaces the app while the page and the server are of different builds. */
export function OutdatedPage() {
  return (
    <main className="page" id="main">
      <h1>Restart StarPO Studio</h1>
      <p>
        This page and its server are from different versions, so the page can't show the server's data. This happens
        when StarPO Studio is updated while it runs. Training continues.
      </p>
      <p>
        Quit the app, or end <code>starpo serve</code> with Ctrl+C, and start it again. If you restarted it already,
        reload this page.
      </p>
      <p>
        <Button kind="primary" icon="reset" onClick={() => location.reload()}>
          Reload this page
        </Button>
      </p>
    </main>
  );
}

/** Explains a problem with the connection. */
export function ConnectionNote() {
  const connection = useApp((state) => state.connection);
  switch (connection) {
    case 'lost':
      return (
        <div className="banner" role="status">
          <strong>Connection lost.</strong> Training continues, and this page updates when the server is back.
          {!inDesktop() && (
            <>
              {' '}
              If <code>starpo serve</code> now runs on another port, open the address it printed.
            </>
          )}
        </div>
      );
    case 'refused':
      return (
        <div className="banner" role="alert">
          <strong>StarPO Studio isn't responding.</strong> Training continues. Reconnecting…
        </div>
      );
    case 'untrusted':
      return (
        <div className="banner" role="alert">
          <strong>A different server is running at this address.</strong> No data was sent to it. If you restarted{' '}
          <code>starpo serve</code>, open the address it printed.
        </div>
      );
    case 'signed-out':
      return <SignIn />;
    default:
      return null;
  }
}
