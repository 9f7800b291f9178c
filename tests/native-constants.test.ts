import { expect, test } from 'vitest';
import { misnamedConstants } from '../scripts/lib/native-constants.mjs';

test.each([
  'constexpr int my_limit = 3;',
  'namespace starpo {\nconstexpr int my_limit = 3;\n}',
  'struct Shape {\n  static constexpr int my_limit = 3;\n};',
  'constexpr std::array my_limit{1, 2};',
])('a constant that is not named kCamelCase is reported: %s', (source) => {
  expect(misnamedConstants(source)).toEqual(['my_limit']);
});

test.each([
  'constexpr int kMyLimit = 3;',
  'constexpr int my_function(int x) { return x; }',
  'int f() {\n  constexpr int my_limit = 3;\n  return my_limit;\n}',
  '// constexpr int my_limit = 3;',
])('other declarations are accepted: %s', (source) => {
  expect(misnamedConstants(source)).toEqual([]);
});
