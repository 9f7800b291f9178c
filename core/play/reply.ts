/** A parsed response, as in training. With an invalid format, reasoning and answer are empty and actions are missing. */
export interface ParsedReply {
  formatValid: boolean;
  think: string | null;
  answer: string | null;
  /** Names split at "||", blanks dropped; not yet checked against the environment. */
  actions: string[];
}

const nothing: ParsedReply = { formatValid: false, think: null, answer: null, actions: [] };
/** What C calls white space, and the trainer with it. */
const blank = '[ \\t\\n\\r\\f\\v]';
const edges = new RegExp(`^${blank}+|${blank}+$`, 'g');
const tags = ['<think>', '</think>', '<answer>', '</answer>', '<|im_start|>', '<|im_end|>'];
const withThought = new RegExp(`<think>([^]*?)</think>${blank}*<answer>([^]*)`);

/** Matches the first think block, optional white space and answer block (without thinking: the first answer block); text around them is ignored. */
export function parseReply(reply: string, think: boolean): ParsedReply {
  if (!think) {
    const open = reply.indexOf('<answer>');
    return open < 0 ? nothing : matched(null, reply.slice(open + '<answer>'.length));
  }
  const match = withThought.exec(reply);
  return match ? matched(match[1]!, match[2]!) : nothing;
}

function matched(think: string | null, rest: string): ParsedReply {
  const end = rest.indexOf('</answer>');
  if (end < 0) return nothing;
  const answer = withoutTags(rest.slice(0, end));
  const actions = answer.split('||').map(strip).filter(Boolean);
  return { formatValid: true, think: think === null ? null : withoutTags(think), answer, actions };
}

const strip = (text: string) => text.replace(edges, '');

/** Removes stray tags, such as those of a model that opens a block twice. Each tag is removed everywhere, one tag after another. */
function withoutTags(text: string): string {
  let result = text;
  for (const tag of tags)
    for (let at = result.indexOf(tag); at >= 0; at = result.indexOf(tag, at))
      result = result.slice(0, at) + result.slice(at + tag.length);
  return strip(result);
}
