/** Parses JSON, also after a byte order mark. Throws an error whose message completes "FILE is not valid JSON: ..." with the line and column. */
export function parseJson(text: string): unknown {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new SyntaxError(problemOf(json, String((error as Error).message)));
  }
}

function problemOf(json: string, message: string): string {
  if (json.trim() === '') return 'it is empty';
  if (endsEarly(json, message)) return 'it ends too early';
  const at = positionOf(message) ?? firstInvalid(json);
  const lines = json.slice(0, at).split('\n');
  const [, words] = /^(.*?)(?: in JSON| after JSON)? at position \d+/.exec(message) ?? [];
  const problem = words
    ? `${words.charAt(0).toLowerCase()}${words.slice(1)}`
    : `unexpected ${JSON.stringify(json[at])}`;
  return `${problem} (line ${lines.length}, column ${lines.at(-1)!.length + 1})`;
}

/** Returns the offset in a message of V8, which most messages have. */
function positionOf(message: string): number | null {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? null : Number(position);
}

/** Returns whether text is missing only at the end. */
const endsEarly = (json: string, message: string) =>
  /^Unexpected end|^Unterminated/.test(message) || positionOf(message) === json.length;

/** Returns the offset of the first character that is invalid whatever follows it. */
function firstInvalid(json: string): number {
  let low = 0;
  let high = json.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isInvalid(json.slice(0, middle + 1))) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isInvalid(start: string): boolean {
  try {
    JSON.parse(start);
    return false;
  } catch (error) {
    return !endsEarly(start, String((error as Error).message));
  }
}
