/** Returns a large, fixed sample of texts: sentences in many languages, code, chats, and random mixes of characters. */
export function tokenizerSample(): string[] {
  const draw = randomNumbers(20_250_401);
  const texts = [...sentences, ...oddities];
  for (const text of sentences) texts.push(text.normalize('NFD'), text.normalize('NFKC'), text.toUpperCase());
  const alphabets = ranges.map(([first, last]) => assigned(first, last));
  const character = (alphabet: string[]) => pick(alphabet, draw);
  for (const alphabet of alphabets) {
    const letters = Array.from({ length: 40 }, () => character(alphabet));
    texts.push(letters.join(''), letters.slice(0, 20).join(' '));
  }
  for (let i = 0; i < 3000; ++i) {
    const parts = Array.from({ length: 1 + draw(24) }, () => {
      const kind = draw(10);
      if (kind < 4) return character(pick(alphabets, draw));
      if (kind < 6) return pick(spaces, draw);
      if (kind < 7) return pick(marks, draw);
      return pick(fragments, draw);
    });
    texts.push(parts.join(''));
  }
  return texts;
}

/** Returns a generator of integers from 0 to below its argument (xorshift32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const pick = <T>(list: readonly T[], draw: (below: number) => number): T => list[draw(list.length)] as T;

/** First and last characters of Unicode blocks. `newer` lists the characters that Unicode 14, the version of the trainer's libraries, does not have. */
const bounds = [
  0x00, 0x7f, 0x80, 0x24f, 0x250, 0x36f, 0x370, 0x52f, 0x531, 0x5f4, 0x600, 0x7fd, 0x900, 0xdff, 0xe01, 0xfff, 0x1000,
  0x13fd, 0x1780, 0x18af, 0x1d00, 0x1fff, 0x2000, 0x20c0, 0x2100, 0x2b95, 0x2c60, 0x2dff, 0x3000, 0x318e, 0x3400,
  0x3600, 0x4e00, 0x9fff, 0xa000, 0xa6f7, 0xac00, 0xd7a3, 0xe000, 0xe040, 0xf900, 0xfaff, 0xfb00, 0xfdff, 0xfe00,
  0xffef, 0x10000, 0x102fb, 0x1d100, 0x1d241, 0x1d300, 0x1d7ff, 0x1f300, 0x1f6d7, 0x1f900, 0x1f9ff, 0x20000, 0x20100,
  0x2f800, 0x2fa1d,
];
const ranges = bounds.flatMap((first, i) => (i % 2 === 0 ? [[first, bounds[i + 1]!] as const] : []));
const newer = new Set([0xc5c, 0xcdc, 0xcf3, 0xece, 0x2427, 0x2428, 0x2429]);

function assigned(first: number, last: number): string[] {
  const characters: string[] = [];
  for (let code = first; code <= last; ++code) {
    const character = String.fromCodePoint(code);
    if (/\p{Cs}|\p{Cn}/u.test(character) || newer.has(code)) continue;
    characters.push(character);
  }
  return characters;
}

const spaces =
  ' |  |   |\n|\n\n|\r\n|\r|\t|\t\t| \n|\n |\u00a0|\u2003|\u3000|\u0085|\u2028|\u1680|\u180e|\v|\f|\u200b|\ufeff'.split(
    '|',
  );
const marks = [
  ...'\u0301\u0308\u0323\u0327\u0345\u0338\u05b0\u064e\u0651\u093c\u094d\u0e48\u3099\u1161\u11a8\ufe0f\u200d\u20e3',
];
const fragments = (
  "'s~'T~'re~'VE~'m~'ll~'Ll~'d~'~\"~...~!!~—~->~==~!=~//~/*~{}~();~0~42~3.14~1,000~²~½~Ⅷ~٣٤~१२~the~" +
  ' the~The~ player~ß~ǆ~ﬁ~é~e\u0301~Å~\u212b~\u1e9b\u0323~한글~\u1112\u1161\u11ab~中文~日本語~カ\u3099~😀~' +
  '👩‍👩‍👧~🇩🇪~❤️~√~_~#~<think>~</answer>~<|im_start|>~<|im_end|>~<|endoftext|>~<tool_call>~<|im_~' +
  'end|>~<|fim_prefix|>'
).split('~');

const sentences = [
  "The quick brown fox jumps over the lazy dog; it doesn't mind, and neither do WE'LL-see-ers. I'M, you're, they've, he'd!",
  'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich – „Straße“ heißt auch STRASSE.',
  "Dès Noël, où un zéphyr haï me vêt de glaçons würmiens, je dîne d'exquis rôtis de bœuf à l'aÿ d'âge mûr.",
  'El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; ¿añoraba a su querido cachorro?',
  'Příliš žluťoučký kůň úpěl ďábelské ódy. Zażółć gęślą jaźń. Árvíztűrő tükörfúrógép.',
  'Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul ılık, ISPARTA değil.',
  'Съешь же ещё этих мягких французских булок, да выпей чаю. Їжак, ґанок, ў.',
  'Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία. Ο Οδυσσέας γύρισε στην Ιθάκη.',
  'דג סקרן שט בים מאוכזב ולפתע מצא חברה. שָׁלוֹם עֲלֵיכֶם',
  'نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر. اَلسَّلامُ عَلَيْكُم ۱۲۳',
  'ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले विष्णु। क़ ख़ १२३',
  'ঊনিশে কার্তিক রাত্র সাড়ে আট ঘটিকায়। தமிழ் மொழி, యూనికోడ్, ಕನ್ನಡ, മലയാളം, ગુજરાતી, ਪੰਜਾਬੀ, සිංහල',
  'เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ພາສາລາວ ភាសាខ្មែរ မြန်မာစာ',
  'いろはにほへと ちりぬるを。東京タワーは333メートルです。ガギグゲゴ、ﾊﾝｶｸ',
  '키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.',
  '天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。「繁體」與“简体”，第１２章：價格￥３００。',
  'Con sói nâu nhảy qua con chó lười. Tiếng Việt rất đẹp: ự, ỡ, ẵ, ệ.',
  'ქართული ენა, Հայերեն լեզու, ᎣᏏᏲ, ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠎ᠡ, አማርኛ, ༄༅། བོད་སྐད།',
  'for (int i = 0; i < n; ++i) {\n\tsum += a[i] * 0x1F; // add\r\n    printf("%d\\n", sum);\n}\n\n\n',
  'def f(x: float = 1e-06) -> str:\n    """Doc."""\n    return f"{x!r:>10}"  # noqa: E501\n',
  'SELECT * FROM runs WHERE id=\'a1\' AND score>=0.5; -- 100%\n<div class="x">&nbsp;</div>',
  'https://example.org/a/b?c=d&e=%20#f user.name+tag@example.co.uk C:\\Users\\x ~/.bashrc',
  '#####\n#P_O#\n#_X√#\n#####\nTurn 3:\nState:\n_ _ _ _\nReward: -0.1\n',
  '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nGo!<|im_end|>\n<|im_start|>assistant\n<think>left || up</think><answer>Left</answer><|im_end|>\n<|endoftext|>',
  '<tool_call>\n{"name": "move", "arguments": {"to": [1, 2]}}\n</tool_call><|fim_prefix|>a<|fim_suffix|>b<|fim_middle|><|object_ref_start|><|vision_pad|>',
  '∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β → γ; ∫₀^∞ e^{−x²} dx = √π⁄2 ≈ 0.886',
  '👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 1️⃣ ☕️ 🇯🇵🇫🇷 ¯\\_(ツ)_/¯ (╯°□°）╯︵ ┻━┻',
  '𝕳𝖊𝖑𝖑𝖔 𝓦𝓸𝓻𝓵𝓭 𠮷野家 𐍈 𒀀 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘',
];

const oddities = [
  '',
  ' ',
  '   ',
  '\n',
  '\r\n\r\n',
  'a  \n',
  '\u0000a\u0000',
  '\ufffd\ufffd',
  '\u0301',
  'a\u0301\u0301\u0323',
  '<|im_start|',
  '<<|im_end|>>',
  '<|im_end|><|im_end|>',
  'e<|im_end|>\u0301',
  `${' '.repeat(300)}x`,
  'x'.repeat(700),
  '!'.repeat(300),
  '\n'.repeat(80),
  '\u0e33'.repeat(50),
  '12345678901234567890',
];
