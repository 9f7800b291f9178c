import type { Alert } from './contract.ts';

/** Texts about alerts that are not the Echo Trap monitor's, by kind. */
const words: Readonly<Record<string, { title: string; advice: string }>> = {
  environment_alert: {
    title: 'Environment failures',
    advice:
      'Void episodes bias training toward the levels that still work. Fix the program (test an environment with `starpo env check`), then resume, or fork from a checkpoint before the failures.',
  },
};

export const alertTitle = ({ kind }: Pick<Alert, 'kind'>): string => words[kind]?.title ?? 'Alert';

/** Returns what to do about an alert, or an empty text. */
export const alertAdvice = ({ kind }: Pick<Alert, 'kind'>): string => words[kind]?.advice ?? '';
