import { z } from 'zod';

/** A page of the shop, as rollout files record it (docs/webshop.md#pages). */

const choice = z.object({ name: z.string(), value: z.string() });
const goal = z.object({
  asin: z.string(),
  title: z.string(),
  instruction: z.string(),
  attributes: z.array(z.string()),
  /** Names are empty for human-written instructions. */
  options: z.array(choice),
  /** Null: no limit. */
  price_cap: z.number().nullable(),
});
const reward = z.object({
  total: z.number(),
  type: z.number(),
  attributes: z.number(),
  requested_attributes: z.number(),
  options: z.number(),
  requested_options: z.number(),
  price_matches: z.boolean(),
  price: z.number(),
});
const product = z.object({
  asin: z.string(),
  title: z.string(),
  price: z.string(),
  options: z.array(z.object({ name: z.string(), values: z.array(z.string()) })),
});
const chosen = z.array(choice);

const page = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('index'), goal }),
  z.object({
    kind: z.literal('results'),
    query: z.string(),
    number: z.number(),
    results: z.number(),
    products: z.array(z.object({ asin: z.string(), title: z.string(), price: z.string(), visited: z.boolean() })),
  }),
  z.object({ kind: z.literal('item'), product, chosen }),
  z.object({
    kind: z.enum(['description', 'features', 'reviews', 'attributes']),
    product,
    chosen,
    texts: z.array(z.string()),
  }),
  z.object({ kind: z.literal('done'), product, chosen, reward }),
]);

export type ShopPage = z.infer<typeof page>;
export type PageOf<Kind extends ShopPage['kind']> = Extract<ShopPage, { kind: Kind }>;
export type Goal = z.infer<typeof goal>;
export type PurchaseReward = z.infer<typeof reward>;
export type Product = z.infer<typeof product>;
export type Choice = z.infer<typeof choice>;

/** Returns the page of a frame; null if the text isn't one. */
export function parsePage(board: string | null | undefined): ShopPage | null {
  if (!board?.startsWith('{')) return null;
  try {
    return page.parse(JSON.parse(board));
  } catch {
    return null;
  }
}

/** Returns the goal of an episode, which its first page has. */
export function goalOf(frames: readonly { board: string | null }[]): Goal | null {
  const first = parsePage(frames[0]?.board);
  return first?.kind === 'index' ? first.goal : null;
}

export const dollars = (amount: number) => `$${amount.toFixed(2)}`;

/** Describes a page in one or two sentences. */
export function describePage(shown: ShopPage): string {
  switch (shown.kind) {
    case 'index':
      return `Search page. Instruction: ${shown.goal.instruction}.`;
    case 'results': {
      const products = shown.products.map(({ title, price }) => `${title}, ${price}`);
      return `Page ${shown.number} of the results for “${shown.query}”: ${products.join('; ') || 'no products'}.`;
    }
    case 'item':
      return `Product ${shown.product.title}, ${shown.product.price}. ${chosenText(shown.chosen)}`;
    case 'done':
      return `Bought ${shown.product.title}. ${chosenText(shown.chosen)} ${rewardText(shown.reward)}`;
    default:
      return `${shown.kind[0]!.toUpperCase()}${shown.kind.slice(1)} of ${shown.product.title}: ${shown.texts.join(' ') || 'none'}.`;
  }
}

const chosenText = (choices: readonly Choice[]) =>
  choices.length === 0 ? 'No options chosen.' : `Chosen: ${choices.map(({ value }) => value).join(', ')}.`;

/** Describes the parts of a reward: `Reward 0.75: kind of product 1, 2 of 2 attributes, 0 of 1 options, price fits.` */
export function rewardText(parts: PurchaseReward): string {
  const { total, type, attributes, requested_attributes, options, requested_options, price_matches } = parts;
  return [
    `Reward ${total.toFixed(2)}: kind of product ${type}`,
    `${attributes} of ${requested_attributes} attributes`,
    ...(requested_options > 0 ? [`${options} of ${requested_options} options`] : []),
    `${price_matches ? 'price fits' : 'price too high'}.`,
  ].join(', ');
}
