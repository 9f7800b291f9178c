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

/** Explains a problem with the connection. */
export function ConnectionNote() {
  const connection = useApp((state) => state.connection);
  switch (connection) {
    case 'lost':
      return (
        <div className="banner" role="status">
          <strong>Connection lost.</strong> Training continues, and this page updates when the server is back. If{' '}
          <code>starpo serve</code> now runs on another port, open the address it printed.
        </div>
      );
    case 'refused':
      return (
        <div className="banner" role="alert">
          <strong>StarPO Studio isn’t responding.</strong> Training continues. Reconnecting…
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
