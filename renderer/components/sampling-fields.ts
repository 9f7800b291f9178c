/** Input fields for sampling settings that truncate the distribution. */
export const truncationFields = [
  {
    key: 'topP',
    label: 'Top-p',
    title: 'Total probability of the tokens to sample from. 1 disables it.',
    input: { min: 0.01, max: 1, step: 'any' },
  },
  {
    key: 'topK',
    label: 'Top-k',
    title: 'Number of most likely tokens to sample from. 1 is greedy; 0 disables it.',
    input: { min: 0, max: 1_000_000, step: 1 },
  },
  {
    key: 'minP',
    label: 'Min-p',
    title: "Minimum probability of a token, as a fraction of the most likely token's. 0 disables it.",
    input: { min: 0, max: 1, step: 'any' },
  },
] as const;
