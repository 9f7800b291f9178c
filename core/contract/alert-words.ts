import type { Alert } from './contract.ts';

/** Titles and advice for alerts other than the Echo Trap monitor's, by kind. */
const words: Readonly<Record<string, { title: string; advice: string }>> = {
  environment_alert: {
    title: 'Environment failures',
    advice:
      'Void episodes bias training toward the levels that still work. Fix the program (test an environment with `starpo env check`), then resume, or fork from a checkpoint before the failures.',
  },
};

export const alertTitle = ({ kind }: Pick<Alert, 'kind'>): string => words[kind]?.title ?? 'Alert';

/** Returns the advice for an alert; empty for alerts of the monitor. */
export const alertAdvice = ({ kind }: Pick<Alert, 'kind'>): string => words[kind]?.advice ?? '';
