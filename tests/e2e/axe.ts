import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 AA, all rules. */
const all: RunOnly = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'] };
/** The rules that depend on colors, for a page whose other theme passed all rules. */
const colors: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Scans the page, or what `parts` selects, after transitions have ended. */
async function scan(page: Page, rules: RunOnly, parts?: string): Promise<string[]> {
  // The content security policy blocks script tags, so evaluate it. It stays until the page reloads.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  return page.evaluate(
    async ([runOnly, selector]) => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
      // Wait for finite animations to finish; axe would measure contrast in mid-transition colors.
      const fades = document
        .getAnimations()
        .filter((each) => each.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
      await Promise.allSettled(fades.map(({ finished }) => finished));
      const scanned = selector ? [...document.querySelectorAll(selector)] : document;
      const found = await axe.run(scanned, { runOnly, resultTypes: ['violations'] });
      return found.violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`).join(' | ')}`,
      );
    },
    [rules, parts] as const,
  );
}

/** Returns axe violations: rules with the elements that violate them. `parts` is a selector of what to scan instead of the whole page. */
export const violations = (page: Page, parts?: string): Promise<string[]> => scan(page, all, parts);

/** Like `violations`, but in both themes: all rules in the current one, and those that depend on colors in the other, which stays. */
export async function violationsInBothThemes(page: Page, parts?: string): Promise<string[]> {
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const themes = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  const first = await scan(page, all, parts);
  await page.emulateMedia({ colorScheme: themes[1] });
  const second = await scan(page, colors, parts);
  return [...first.map((each) => `${themes[0]}: ${each}`), ...second.map((each) => `${themes[1]}: ${each}`)];
}
