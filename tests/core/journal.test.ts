import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { meaningOf, parseEvent } from '../../core/run-directory/events.ts';
import { readTail } from '../../core/run-directory/journal-tail.ts';
import * as journal from './fixtures/journal.ts';

describe('reading the tail of a journal', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'starpo-tail-'));
    path = join(folder, 'events.jsonl');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('treats a missing file as empty', () => {
    expect(readTail(path, 0)).toMatchObject({
      lines: [],
      next: 0,
      size: 0,
      modified: null,
      more: false,
      replaced: false,
    });
  });

  test('returns an incomplete line only once it is complete', () => {
    writeFileSync(path, 'one\ntw');
    const first = readTail(path, 0);
    expect(first).toMatchObject({ lines: ['one'], next: 4 });
    expect(readTail(path, first.next)).toMatchObject({ lines: [], next: 4 });
    appendFileSync(path, 'o\nthree\n');
    expect(readTail(path, first.next)).toMatchObject({ lines: ['two', 'three'], next: 14, more: false });
  });

  test.each([1, 2, 3, 5, 7, 64])('returns each line once and complete in chunks of about %i bytes', (limit) => {
    const lines = ['a', 'ünïcödé √', '', 'x'.repeat(20), '終わり'];
    writeFileSync(path, `${lines.join('\n')}\n`);
    const read: string[] = [];
    let offset = 0;
    for (let tail = readTail(path, 0, limit); tail.lines.length > 0; tail = readTail(path, offset, limit)) {
      read.push(...tail.lines);
      offset = tail.next;
    }
    expect(read).toEqual(lines);
  });

  test('rejects a line that would fill the memory', () => {
    writeFileSync(path, 'one\n');
    truncateSync(path, 65 << 20);
    expect(readTail(path, 0)).toMatchObject({ lines: ['one'] });
    expect(() => readTail(path, 4, 64 << 20)).toThrow(/events\.jsonl has a line of more than 64 MiB/);
  });

  test('detects a replaced file by its shorter length', () => {
    writeFileSync(path, 'one\n');
    expect(readTail(path, 10).replaced).toBe(true);
  });

  test('throws for a folder instead of detecting a replaced file', () => {
    expect(() => readTail(folder, 2 ** 40)).toThrow(expect.objectContaining({ code: 'EISDIR' }));
  });
});

describe('parsing an event', () => {
  test('keeps unknown phases, reasons and log levels', () => {
    const line = (type: string, body: object) => JSON.stringify({ v: 1, seq: 7, time: 1, type, ...body });
    for (const [type, body] of [
      ['phase', { name: 'dream', iteration: 1, done: 0, total: 1 }],
      ['stopped', { reason: 'rollback', iteration: 3 }],
      ['log', { level: 'note', message: 'hm' }],
    ] as const)
      expect(parseEvent(line(type, body))).toMatchObject({ type, body });
  });

  test('shows the rule of an early stop', () => {
    const body = { reason: 'early_stop', iteration: 3, message: 'the filter kept no group' };
    expect(meaningOf({ type: 'stopped', body })).toEqual({
      ends: { status: 'stopped', failure: null, stopReason: 'The filter kept no group.' },
      line: { level: 'info', message: 'Stopped early after iteration 3: the filter kept no group.' },
    });
    expect(meaningOf({ type: 'stopped', body: { ...body, reason: 'command' } }).ends?.stopReason).toBeNull();
  });

  test('accepts unknown types and keys', () => {
    expect(parseEvent(journal.other(3))).toMatchObject({ seq: 3, type: 'unknown', name: 'weather' });
    const event = JSON.parse(journal.iteration(1, 1));
    expect(parseEvent(JSON.stringify({ ...event, colour: 'blue' }))).toMatchObject({
      type: 'iteration',
      seq: 1,
    });
  });

  test('keeps only the numeric metrics', () => {
    const event = JSON.parse(journal.iteration(1, 1, 0.5));
    const metrics = '{"rollout/success_rate":0.5,"a":"b","c":null,"d":1e999,"e":[1]}';
    const line = JSON.stringify({ ...event, updates: 'none', template: 7, metrics: 0 }).replace(
      '"metrics":0',
      `"metrics":${metrics}`,
    );
    expect(meaningOf(parseEvent(line)!)).toEqual({
      iteration: 1,
      metrics: { iteration: 1, values: { 'rollout/success_rate': 0.5 } },
    });
  });

  test('reports the name of a phase with another kind of progress', () => {
    const line = (fields: object) =>
      JSON.stringify({ v: 1, seq: 7, time: 1, type: 'phase', name: 'dream', iteration: 3, ...fields });
    expect(meaningOf(parseEvent(line({ done: 0.5, total: 2 }))!).phase).toMatchObject({ done: 0.5 });
    expect(meaningOf(parseEvent(line({ done: 'much' }))!).phase).toEqual({
      name: 'dream',
      iteration: 3,
      done: 0,
      total: 0,
    });
  });

  test('logs an event of an unknown type with its shortened content', () => {
    const event = { ...JSON.parse(journal.other(3)), places: 'everywhere '.repeat(99) };
    const { line, ...rest } = meaningOf(parseEvent(JSON.stringify(event))!);
    expect(rest).toEqual({});
    expect(line).toEqual({
      level: 'info',
      message: expect.stringMatching(/^weather: \{"sunny":true,"places":"every.*…$/),
    });
    expect(line!.message.length).toBeLessThan(250);
  });

  test('reports a written checkpoint', () => {
    expect(meaningOf(parseEvent(journal.checkpoint(3, 20))!)).toEqual({ checkpoint: { iteration: 20 } });
  });

  test.each([
    '',
    'garbage',
    '[]',
    'null',
    '{"v":1}',
    '{"v":1,"seq":-1,"time":0,"type":"log","level":"info","message":""}',
    '{"v":1,"seq":0,"time":0,"type":"iteration","iteration":1,"metrics":"b"}',
  ])('rejects %j', (line) => {
    expect(parseEvent(line)).toBeNull();
  });
});
