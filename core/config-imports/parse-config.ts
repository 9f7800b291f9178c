import { parseDocument } from 'yaml';
import { Failure } from '../contract/failure.ts';
import { isNestedTooDeeply } from '../contract/nesting.ts';
import type { Tree } from '../run-config/tree.ts';

/** A configuration file of another trainer. */
export interface ConfigText {
  /** File name, such as `_2_sokoban.yaml`. */
  name: string;
  text: string;
}

/** Parses YAML or JSON with an object at its top level; an empty file is an empty object. Throws `config_unreadable`. */
export function parseConfig({ name, text }: ConfigText): Tree {
  const value = parseYaml(text, (problem) =>
    unreadable(`${name} is not valid YAML: ${problem}.`, 'Correct the file, or choose another file.'),
  );
  if (value === null || value === undefined) return {};
  if (isTree(value)) return value;
  throw unreadable(`${name} does not contain settings.`, 'Choose a YAML file with one `key: value` per line.');
}

/** Parses the value of an override such as `rollout.tags=[A,B]`. Throws `config_unreadable`. */
export function parseValue(argument: string, text: string): unknown {
  if (text.trim() === '') return '';
  return parseYaml(text, (problem) =>
    unreadable(`The value of "${argument}" is invalid: ${problem}.`, 'Write it as in YAML, for example key=[a,b].'),
  );
}

function parseYaml(text: string, failure: (problem: string) => Failure): unknown {
  let value: unknown;
  try {
    const document = parseDocument(text, { merge: true, prettyErrors: true });
    const [error] = document.errors;
    if (error) {
      const [problem = error.message] = error.message.split(/:?\n/);
      throw failure(problem.charAt(0).toLowerCase() + problem.slice(1));
    }
    value = document.toJS();
  } catch (error) {
    if (error instanceof Failure) throw error;
    // Too many aliases, or nested so deeply that the parser's stack is exhausted.
    throw failure('it has too many aliases or is nested too deeply');
  }
  if (isNestedTooDeeply(value)) throw failure('it is nested too deeply');
  return value;
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (message: string, hint: string) => new Failure('config_unreadable', message, hint);
