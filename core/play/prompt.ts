import { Failure } from '../contract/failure.ts';

/** Fills {placeholders} of a prompt; "{{" and "}}" stand for braces. Throws `config_invalid` for one that is unknown or left open. */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{|\}\}|\{([^}]*)(\}?)/g, (found, name: string | undefined, closed: string) => {
    if (found === '{{' || found === '}}') return found[0]!;
    if (closed && Object.hasOwn(values, name!)) return values[name!]!;
    const known = Object.keys(values)
      .map((each) => `{${each}}`)
      .join(', ');
    throw new Failure(
      'config_invalid',
      `Unknown placeholder {${name}}.`,
      `Use ${known}. Write {{ for a literal brace.`,
    );
  });
}

/** A reward as Python prints it: an integer without a fraction, a float always with one. */
export function pythonNumber(value: number, isInteger: boolean): string {
  if (isInteger) return String(value);
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value);
}
