import type { Settings } from '../contract/contract.ts';

/** A sweep of a paper, as data. One sweep may serve several studies. */
export interface PaperSweep {
  id: string;
  /** Environments and algorithm, for its name. */
  title: string;
  /** The preset without its model: `sokoban-ppo`. */
  preset: string;
  /** Changes for all settings. */
  set: Settings;
  points: readonly { name: string; set: Settings }[];
  /** Number of seeds. */
  seeds: number;
}

/** A quantity of a run that is compared. Success is measured by an evaluation of one environment. */
export type Measure =
  | { success: 'before' | 'best' | 'after'; environment: string }
  /** Mean of a metric over the first or last ten iterations. */
  | { metric: string; at: 'first' | 'last'; unit: 'share' | 'tokens' }
  /** Number of collapsed runs by the collapse rule. */
  | { collapsed: true };

export interface Column {
  title: string;
  measure: Measure;
}

/** A published number: a share of successes in n episodes, or text where the paper has a curve. */
export type PaperNumber = { share: number; n: number } | string;

/** Settings of a sweep, by its id and the setting's name. */
export interface Place {
  sweep: string;
  point: string;
}

/** A statement of the paper that a difference tests: `higher` exceeds `lower`. */
export interface Claim {
  text: string;
  higher: Place;
  lower: Place;
  measure: Measure;
  /** Where `lower` is measured differently, such as at another time of the same run. */
  lowerMeasure?: Measure;
}

/** One row of a table: settings with their columns. */
interface Row extends Place {
  columns: readonly Column[];
  /** Numbers in the paper, by the title of the column. */
  paper?: Readonly<Record<string, PaperNumber>>;
}

/** A figure or table of a paper, with the sweeps that answer its question here. */
export interface PaperStudy {
  /** `figure-5`; the study's preset is `ragen-figure-5`. */
  id: string;
  title: string;
  question: string;
  /** The quantity that all settings have in common. */
  constant: string;
  rows: readonly Row[];
  claims: readonly Claim[];
  /** Parts of the paper's study that are not included, with the reason. */
  missing: readonly string[];
}

/** Returns the ids of a study's sweeps. */
export const sweepsOf = ({ rows, claims }: PaperStudy): string[] => [
  ...new Set([...rows, ...claims.flatMap(({ higher, lower }) => [higher, lower])].map(({ sweep }) => sweep)),
];
