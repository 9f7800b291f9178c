/** WebShop's published files, and where a missing one can be found. */

export interface OfficialFile {
  name: string;
  bytes: number;
  /** First 16 hex digits of its SHA-256. */
  sha256: string;
}

export const officialFiles: readonly OfficialFile[] = [
  { name: 'items_shuffle_1000.json', bytes: 4_467_013, sha256: '30a4765c3a327af7' },
  { name: 'items_ins_v2_1000.json', bytes: 147_099, sha256: 'f88a36314a397b53' },
  { name: 'items_shuffle.json', bytes: 5_479_720_229, sha256: '2ef591d65df3af89' },
  { name: 'items_ins_v2.json', bytes: 186_295_270, sha256: '1d36af476bdb8f82' },
  { name: 'items_human_ins.json', bytes: 5_137_548, sha256: 'cf78667548a71786' },
];

/** Numbers of goals that WebShop documents, by the products' file and the kind of goals. */
export const officialGoals: Readonly<Record<string, { synthetic?: number; human?: number }>> = {
  'items_shuffle_1000.json': { synthetic: 6910 },
  'items_shuffle.json': { human: 12_087 },
};

interface Kind {
  prefix: string;
  content: string;
  /** Null: required. Otherwise what is impossible without it. */
  optional: string | null;
}

/** The kinds of files in a catalogue folder. */
export const kinds: readonly Kind[] = [
  { prefix: 'items_shuffle', content: 'products', optional: null },
  { prefix: 'items_ins_v2', content: 'attributes and synthetic instructions', optional: null },
  { prefix: 'items_human_ins', content: 'human-written instructions', optional: 'human_goals' },
];

export const whereToFind =
  "WebShop's setup.sh (https://github.com/princeton-nlp/WebShop) has the addresses of all files; copies are in the data set HongbangYuan/webshop on Hugging Face.";
