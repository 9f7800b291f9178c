import { type FormEvent, useState } from 'react';
import { openAddress, signInCode } from '../api/transport.ts';

/** Signs a browser tab in with the address from `starpo serve`. */
export function SignIn() {
  const [invalid, setInvalid] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setInvalid(!openAddress(String(new FormData(event.currentTarget).get('address'))));
  };
  return (
    <form className="banner" onSubmit={submit}>
      <label>
        <strong>
          {signInCode() === ''
            ? "This tab isn't signed in."
            : 'The sign-in of this tab has expired or is for another server.'}
        </strong>{' '}
        Paste the address from your terminal:{' '}
        <input name="address" type="text" size={48} autoComplete="off" spellCheck={false} />
      </label>{' '}
      <button type="submit" className="button">
        Open
      </button>
      {invalid && (
        <p role="alert">
          Not a sign-in address. The address from <code>starpo serve</code> starts with http:// and contains #sign-in=.
        </p>
      )}
    </form>
  );
}
