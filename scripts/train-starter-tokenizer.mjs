// Trains tokenizer.json and tokenizer_config.json of the starter policies on their tokenizer-corpus.txt: Qwen2-style byte pair encoding.
// It merges words but not boards: each cell symbol, newline and digit stays one token.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const resources = join(dirname(fileURLToPath(import.meta.url)), '../resources');
/** Numbers of tokens. They are `vocab_size` in the folder's config.json. */
const vocabularySizes = { starter: 512, 'starter-shop': 1418 };
const addedTokens = [
  { content: '<|endoftext|>', special: true },
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<think>', special: false },
  { content: '</think>', special: false },
  { content: '<answer>', special: false },
  { content: '</answer>', special: false },
];
const qwen2Pattern =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Returns GPT-2's printable character for each byte. */
function byteAlphabet() {
  const printable = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let standIn = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : standIn++));
}

const alphabet = byteAlphabet();
const spell = (text) => Array.from(Buffer.from(text, 'utf8'), (byte) => alphabet[byte]);

/** Returns the strings that may become tokens: words with a lower-case letter, I, the action separator and the reached goal. */
function wordsOf(corpus) {
  return corpus.match(/[A-Za-z]*[a-z][A-Za-z]*|\bI\b|\|\||√/g);
}

/** Byte pair encoding over the corpus's words, in order of first appearance, until the merge budget is used. */
class Trainer {
  merges = [];

  constructor(words) {
    this.words = new Map();
    for (const text of words) {
      const word = this.words.get(text);
      if (word) word.count += 1;
      else this.words.set(text, { parts: spell(text), count: 1 });
    }
  }

  /** Returns the word's most frequent pair in the corpus; ties go to the left. */
  bestPair(parts) {
    const counts = new Map();
    for (const word of this.words.values())
      for (let i = 0; i + 1 < word.parts.length; i++) {
        const pair = `${word.parts[i]} ${word.parts[i + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + word.count);
      }
    let best = 0;
    const countAt = (i) => counts.get(`${parts[i]} ${parts[i + 1]}`);
    for (let i = 1; i + 1 < parts.length; i++) if (countAt(i) > countAt(best)) best = i;
    return [parts[best], parts[best + 1]];
  }

  merge(left, right) {
    this.merges.push([left, right]);
    for (const word of this.words.values())
      for (let i = 0; i + 1 < word.parts.length; i++)
        if (word.parts[i] === left && word.parts[i + 1] === right) word.parts.splice(i, 2, left + right);
  }

  /**
   * Merges the leading space only after all words are complete: merged earlier, " the" would prevent "then" from becoming one token.
   */
  train(limit) {
    const spaced = [];
    for (const [text, word] of this.words) {
      const takesSpace = text !== '√';
      const snapshot = this.merges.length;
      while (word.parts.length > 1 && this.merges.length + spaced.length < limit)
        this.merge(...this.bestPair(word.parts));
      const full = this.merges.length + spaced.length >= limit;
      if (word.parts.length === 1 && takesSpace && !full) spaced.push([spell(' ')[0], word.parts[0]]);
      else if (full && snapshot === this.merges.length) break;
    }
    this.merges.push(...spaced);
    if (this.merges.length !== limit)
      throw new Error(
        `The corpus yields ${this.merges.length} merges but ${limit} are required. Add words to tokenizer-corpus.txt.`,
      );
    return this.merges;
  }
}

function trainTokenizer(folder, vocabularySize) {
  const mergeCount = vocabularySize - 256 - addedTokens.length;
  const corpus = readFileSync(join(folder, 'tokenizer-corpus.txt'), 'utf8');
  const merges = new Trainer(wordsOf(corpus)).train(mergeCount);
  const vocabulary = Object.fromEntries(
    [...alphabet, ...merges.map(([left, right]) => left + right)].map((token, id) => [token, id]),
  );
  const firstAdded = 256 + mergeCount;
  if (Object.keys(vocabulary).length !== firstAdded) throw new Error('Two merges give the same token.');
  const write = (name, value) => writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  write('tokenizer.json', tokenizerJson(vocabulary, merges, firstAdded));
  write('tokenizer_config.json', config);
}

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
const tokenizerJson = (vocabulary, merges, firstAdded) => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: addedTokens.map(({ content, special }, index) => ({
    id: firstAdded + index,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special,
  })),
  normalizer: null,
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Split', pattern: { Regex: qwen2Pattern }, behavior: 'Isolated', invert: false },
      byteLevel,
    ],
  },
  post_processor: null,
  decoder: byteLevel,
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: '',
    end_of_word_suffix: '',
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: vocabulary,
    merges,
  },
});

const chatTemplate = [
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}",
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>' }}{% endif %}",
].join('');
const config = {
  tokenizer_class: 'PreTrainedTokenizerFast',
  eos_token: '<|im_end|>',
  pad_token: '<|endoftext|>',
  clean_up_tokenization_spaces: false,
  chat_template: chatTemplate,
};

for (const [name, size] of Object.entries(vocabularySizes)) trainTokenizer(join(resources, name), size);
