import type { ImportNote } from '../contract/configuration.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { locate, type Tree } from '../run-config/tree.ts';
import { reasonOf, type Trainer } from './counterparts.ts';
import { type Reader, shown } from './reader.ts';

/** A configuration that is built from another trainer's settings, with notes about each of them. */
export class Draft {
  readonly config: RunConfig;
  readonly from: Reader;
  readonly notes: ImportNote[] = [];
  /** The other trainer's setting for each of ours. */
  readonly sources = new Map<string, string>();

  /** Trainers whose settings are imported. */
  readonly trainers: readonly Trainer[];

  constructor(base: RunConfig, from: Reader, trainers: readonly Trainer[]) {
    this.config = structuredClone(base);
    this.from = from;
    this.trainers = trainers;
  }

  /** Sets one of our settings from a setting of the other trainer. `why` is given if the value has another meaning or form. */
  set(target: string, value: unknown, source: string, why = ''): void {
    const found = locate(this.config as unknown as Tree, target)!;
    found.parent[found.key] = value;
    this.sources.set(target, source);
    const given = this.from.value(source);
    const reason = why === '' ? '' : ` ${why}`;
    if (given === undefined) this.note('default', `${source} is not set: ${target} = ${shown(value)}.${reason}`);
    else
      this.note(
        why === '' ? 'mapped' : 'changed',
        `${source} = ${shown(given)} is ${target} = ${shown(value)}.${reason}`,
      );
  }

  /** Copies a number that has the same meaning; keeps ours if it is absent. */
  number(target: string, source: string): void {
    const value = this.from.number(source);
    if (value !== undefined) this.set(target, value, source);
  }

  integer(target: string, source: string): void {
    const value = this.from.integer(source);
    if (value !== undefined) this.set(target, value, source);
  }

  flag(target: string, source: string): void {
    const value = this.from.flag(source);
    if (value !== undefined) this.set(target, value, source);
  }

  changed(text: string): void {
    this.note('changed', text);
  }

  /** Notes a setting without a counterpart. */
  missing(source: string, why = reasonOf(this.trainers, source)): void {
    const value = this.from.value(source);
    this.note('no_counterpart', `${value === undefined ? source : `${source} = ${shown(value)}`}: ${why}.`);
  }

  note(kind: ImportNote['kind'], text: string): void {
    this.notes.push({ kind, text });
  }
}
