import { type FormEvent, useState } from 'react';
import { openAddress } from '../api/transport.ts';

/** A tab of a browser that nobody has signed in yet: the address that `starpo serve` printed does. */
export function SignIn() {
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setWrong(!openAddress(String(new FormData(event.currentTarget).get('address'))));
  };
  return (
    <form className="banner" onSubmit={submit}>
      <label>
        <strong>This tab isn't signed in.</strong> Paste the address from your terminal:{' '}
        <input name="address" type="text" size={48} autoComplete="off" spellCheck={false} />
      </label>{' '}
      <button type="submit" className="button">
        Open
      </button>
      {wrong && (
        <p role="alert">
          That isn't an address that <code>starpo serve</code> prints: it begins with http:// and has
          #sign-in= in it.
        </p>
      )}
    </form>
  );
}
