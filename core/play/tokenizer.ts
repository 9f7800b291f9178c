import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { readJson } from '../models/model-config.ts';

const tokenizerFile = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.number().int(), content: z.string(), special: z.boolean() })),
});

/**
 * A model folder's tokenizer as the trainer uses it: in a prompt special tokens are text like any other, so what an environment shows can't forge a turn; control tokens
 * are placed by id.
 */
export class ChatTokenizer {
  /** Knows no special tokens. */
  private readonly plain: Tokenizer;
  private readonly special: Map<number, string>;

  private constructor(plain: Tokenizer, special: Map<number, string>) {
    this.plain = plain;
    this.special = special;
  }

  /** Throws `model_file_missing` or `tokenizer_invalid`. */
  static async load(folder: string): Promise<ChatTokenizer> {
    const path = join(folder, 'tokenizer.json');
    const read = tokenizerFile.safeParse(await readJson(path));
    try {
      const { added_tokens: added, ...rest } = read.data!;
      const plain = new Tokenizer(
        { ...rest, added_tokens: added.filter(({ special }) => !special) },
        { clean_up_tokenization_spaces: false },
      );
      const special = added.filter(({ special }) => special);
      return new ChatTokenizer(plain, new Map(special.map(({ id, content }) => [id, content])));
    } catch {
      throw new Failure(
        'tokenizer_invalid',
        `${path} is no tokenizer that can be followed.`,
        'Choose another checkpoint, or copy the file again.',
      );
    }
  }

  encode(text: string): number[] {
    return text === '' ? [] : this.plain.encode(text, { add_special_tokens: false }).ids;
  }

  /** Special tokens included; bytes that are no UTF-8 come out as U+FFFD. */
  decode(ids: readonly number[]): string {
    let text = '';
    let run: number[] = [];
    const flush = () => {
      if (run.length > 0) text += this.plain.decode(run, { skip_special_tokens: false });
      run = [];
    };
    for (const id of ids) {
      const special = this.special.get(id);
      if (special === undefined) run.push(id);
      else {
        flush();
        text += special;
      }
    }
    flush();
    return text;
  }

  /** Throws `tokenizer_token_missing`. */
  idOf(token: string): number {
    for (const [id, content] of this.special) if (content === token) return id;
    const id = this.plain.token_to_id(token);
    if (id !== undefined) return id;
    throw new Failure(
      'tokenizer_token_missing',
      `The tokenizer has no ${token}.`,
      'Use an instruction-tuned model.',
    );
  }
}
