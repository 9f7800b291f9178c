import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 AA, all rules. */
const all: RunOnly = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'] };
/** The rules that depend on colors, for a page whose other theme passed all rules. */
export const colors: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Returns axe violations after transitions have ended: rules with the elements that violate them. */
export async function violations(page: Page, rules = all): Promise<string[]> {
  // The content security policy blocks script tags, so evaluate it. It stays until the page reloads.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    // Wait for finite animations to finish; axe would measure contrast in mid-transition colors.
    const fades = document
      .getAnimations()
      .filter((each) => each.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(fades.map(({ finished }) => finished));
    const found = await axe.run(document, { runOnly, resultTypes: ['violations'] });
    return found.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`).join(' | ')}`,
    );
  }, rules);
}
