import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';
import { thorough } from '../thorough.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 AA, all rules. */
const all: RunOnly = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'] };
/** The rules that depend on colors. */
const colors: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/**
 * Looks of text that passed the contrast rule in this process: colors, size and weight, and the backgrounds below. The rule takes most of axe's
 * time, and its result depends on nothing else unless something covers the text. `thorough` remembers none.
 */
const passed = new Set<string>();

type Evaluate = (this: unknown, node: Element, ...rest: unknown[]) => boolean | undefined;

interface Scanner {
  axe: typeof import('axe-core') & { _audit: { checks: Record<string, { evaluate: Evaluate }> } };
  contrast: {
    /** Elements whose contrast the last scan by all rules could decide. */
    decided: Element[];
    /** Looks that passed since the last scan. */
    fresh: string[];
    hasPassed(element: Element): boolean;
  };
}

/** Adds axe to the page, where it stays until the page reloads. */
async function addScanner(page: Page): Promise<void> {
  // The content security policy blocks script tags, so evaluate it.
  await page.evaluate(source);
  await page.evaluate(
    ([known, remember]) => {
      const scope = globalThis as unknown as Scanner;
      const seen = new Set(known);
      /** Combines strings into a short one. */
      const digest = (text: string) => {
        let [a, b] = [0xdeadbeef, 0x41c6ce57];
        for (let at = 0; at < text.length; at++) {
          a = Math.imul(a ^ text.charCodeAt(at), 2654435761);
          b = Math.imul(b ^ text.charCodeAt(at), 1597334677);
        }
        return (a >>> 0).toString(36) + (b >>> 0).toString(36);
      };
      const ground = (element: Element | null): string => {
        if (!element) return '';
        const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position } = getComputedStyle(element);
        const below = ground(element.parentElement);
        const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position].join();
        return own === 'rgba(0, 0, 0, 0),none,1,none,normal,static' ? below : digest(below + own);
      };
      const lookOf = (element: Element) => {
        const style = getComputedStyle(element);
        const { color, fontSize, fontWeight, textShadow, webkitTextStroke, textDecorationLine } = style;
        const link = element.closest('a[href]');
        // Links in text must differ from it.
        const around = link?.parentElement ? getComputedStyle(link.parentElement).color + textDecorationLine : '';
        return digest([ground(element), color, fontSize, fontWeight, textShadow, webkitTextStroke, around].join());
      };
      const check = scope.axe._audit.checks['color-contrast']!;
      const { evaluate } = check;
      scope.contrast = { decided: [], fresh: [], hasPassed: (element) => seen.has(lookOf(element)) };
      check.evaluate = function (node, ...rest) {
        const look = lookOf(node);
        const passes = (remember && seen.has(look)) || evaluate.call(this, node, ...rest);
        if (passes) {
          scope.contrast.decided.push(node);
          if (!seen.has(look)) scope.contrast.fresh.push(look);
          seen.add(look);
        }
        return passes;
      };
    },
    [[...passed], !thorough] as const,
  );
}

/** Scans a part of the page after transitions have ended. Without `parts`, scans the page. */
async function scan(page: Page, rules: 'all' | 'colors', parts?: string): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await addScanner(page);
  const { found, fresh } = await page.evaluate(
    async ([runOnly, selector, again, remember]) => {
      const { axe, contrast } = globalThis as unknown as Scanner;
      // Wait for finite animations to finish; axe would measure contrast in mid-transition colors.
      const fades = document
        .getAnimations()
        .filter((each) => each.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
      await Promise.allSettled(fades.map(({ finished }) => finished));
      let part: Element[] | Document = selector ? [...document.querySelectorAll(selector)] : document;
      // In the other theme only the colors changed. If elements were replaced, the last scan says nothing about the new ones.
      if (again && remember && contrast.decided.every(({ isConnected }) => isConnected)) {
        part = contrast.decided.filter((element) => !contrast.hasPassed(element));
        if (part.length === 0) return { found: [], fresh: [] };
      }
      if (!again) contrast.decided = [];
      const results = await axe.run(part, { runOnly, resultTypes: ['violations'] });
      return {
        found: results.violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`).join(' | ')}`,
        ),
        fresh: contrast.fresh.splice(0),
      };
    },
    [rules === 'all' ? all : colors, parts, rules === 'colors', !thorough] as const,
  );
  for (const look of fresh) passed.add(look);
  return found;
}

/** Returns axe violations: rules with the elements that violate them. `parts` is a selector of what to scan instead of the whole page. */
export const violations = (page: Page, parts?: string): Promise<string[]> => scan(page, 'all', parts);

/** Like `violations`, but in both themes: all rules in the current one, and those that depend on colors in the other, which stays. */
export async function violationsInBothThemes(page: Page, parts?: string): Promise<string[]> {
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const themes = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  const first = await scan(page, 'all', parts);
  await page.emulateMedia({ colorScheme: themes[1] });
  const second = await scan(page, 'colors', parts);
  return [...first.map((each) => `${themes[0]}: ${each}`), ...second.map((each) => `${themes[1]}: ${each}`)];
}
