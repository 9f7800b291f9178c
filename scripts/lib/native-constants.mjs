import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeFiles } from './process.mjs';

const declaration = /\bconstexpr\b[^=({;]*?\b(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|\{)/g;

/** Replaces comments and literals with spaces, so that braces in them don't count. */
const withoutText = (/** @type {string} */ source) =>
  source.replace(
    /\/\/.*|\/\*[\s\S]*?\*\/|R"(\w*)\([\s\S]*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])'/g,
    (text) => text.replace(/[^\n]/g, ' '),
  );

/**
 * Returns the constexpr constants at namespace or class scope that are not named kCamelCase. Pure.
 * @param {string} source C++ or CUDA
 */
export function misnamedConstants(source) {
  const names = [];
  /** @type {boolean[]} for each open brace, whether it is a namespace's or a class's */
  const scopes = [];
  let head = '';
  for (const part of withoutText(source).split(/([{};])/)) {
    if (part === '}') scopes.pop();
    if (scopes.every(Boolean) && (part === '{' || part === ';'))
      for (const [, name = ''] of `${head}${part === '{' ? '{' : ''}`.matchAll(declaration))
        if (!/^k[A-Z0-9]/.test(name)) names.push(name);
    if (part === '{') scopes.push(/\b(?:namespace|class|struct|union)\b[^=()]*$/.test(head));
    head = /^[{};]$/.test(part) ? '' : part;
  }
  return names;
}

/**
 * @param {string} native the folder native/
 * @returns {string[]} a line per misnamed constant
 */
export function checkConstants(native) {
  const files = ['src', 'tests', 'fuzz', 'bench'].flatMap((folder) =>
    nativeFiles(join(native, folder)).map((name) => join(folder, name)),
  );
  return files
    .sort()
    .flatMap((file) =>
      misnamedConstants(readFileSync(join(native, file), 'utf8')).map(
        (name) => `native/${file}: name the constant ${name} in kCamelCase.`,
      ),
    );
}
