import { closeSync, ftruncateSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs/minimal.js';
import { makeFolder } from '../base/folders.ts';
import { tfRecord } from '../base/tf-record.ts';
import type { Point } from './record.ts';

/**
 * TensorBoard event files are TFRecords of Event messages (tensorflow/core/util/event.proto). Numbers in comments are field numbers of these
 * messages.
 */

const { Writer } = protobuf;

/** Returns an Event: wall_time 1 (seconds), step 2, and one field of content. */
function event(time: number, step: number, addContent: (writer: protobuf.Writer) => void): Uint8Array {
  const writer = Writer.create()
    .uint32(9)
    .double(time / 1000);
  if (step !== 0) writer.uint32(16).int64(step);
  addContent(writer);
  return tfRecord(writer.finish());
}

/** Returns Event.file_version 3, the first record of a file. */
const versionEvent = (time: number) => event(time, 0, (writer) => writer.uint32(26).string('brain.Event:2'));

/** Returns Event.summary 5 with Summary.value 1 (tag 1, simple_value 2) per metric. */
function pointEvent({ iteration, time, values }: Point): Uint8Array {
  return event(time, iteration, (writer) => {
    writer.uint32(42).fork();
    for (const [tag, value] of Object.entries(values))
      writer.uint32(10).fork().uint32(10).string(tag).uint32(21).float(value).ldelim();
    writer.ldelim();
  });
}

/** Returns Event.session_log 7 with SessionLog.status 1 = START 1. TensorBoard then drops earlier points of this step and later ones. */
const restartEvent = (time: number, step: number) =>
  event(time, step, (writer) => writer.uint32(58).fork().uint32(8).int32(1).ldelim());

/** Returns a name such as `events.out.tfevents.1700000000.host.starpo`. TensorBoard only requires `tfevents`. */
const eventFileName = (time: number) =>
  `events.out.tfevents.${Math.floor(time / 1000)}.${hostname().replaceAll(/[^\w.-]/g, '-')}.starpo`;

const isEventFile = (name: string) => /^events\.out\.tfevents\..*\.starpo$/.test(name);

/** An event file that TensorBoard may read while it grows. A failed write leaves no partial record. */
export class EventFile {
  readonly name: string;
  private readonly file: number;
  private size = 0;

  /** Deletes other event files in the folder, because TensorBoard would show their points twice. */
  constructor(folder: string, time: number) {
    makeFolder(folder);
    this.name = eventFileName(time);
    for (const name of readdirSync(folder)) if (isEventFile(name) && name !== this.name) rmSync(join(folder, name));
    this.file = openSync(join(folder, this.name), 'w');
    try {
      this.append(versionEvent(time));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  add(point: Point): void {
    this.append(pointEvent(point));
  }

  /** Marks that training resumed after an iteration. TensorBoard then drops earlier points of later iterations. */
  resumeAfter(iteration: number, time: number): void {
    this.append(restartEvent(time, iteration + 1));
  }

  close(): void {
    closeSync(this.file);
  }

  private append(record: Uint8Array): void {
    try {
      // A nearly full disk may accept only a part.
      for (let done = 0; done < record.length; )
        done += writeSync(this.file, record, done, record.length - done, this.size + done);
    } catch (error) {
      ftruncateSync(this.file, this.size);
      throw error;
    }
    this.size += record.length;
  }
}
