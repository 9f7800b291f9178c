import type { Frame } from '../../core/contract/contract.ts';
import type { BoardProps, EnvironmentView, Outcome } from './environment.ts';
import { TextBoard } from './text-board.tsx';
import { textPainter } from './text-painter.ts';

const NoPicture = () => null;

/** Returns the view of an environment that this build doesn't know: recorded states as text, generic outcomes. */
export const unknownEnvironment = (type: string): EnvironmentView => ({
  type,
  title: type,
  tagline: '',
  outcome: (frames, index) => outcome(frames[index]!),
  Board,
  painter: textPainter,
  describe: ({ frames }, index) => frames[index]?.board ?? '',
  Illustration: NoPicture,
});

function Board({ replay, index }: BoardProps) {
  return <TextBoard text={replay.frames[index]?.board ?? ''} />;
}

function outcome({ success, slipped, effective }: Frame): Outcome {
  if (success) return { tone: 'good', text: 'succeeded', note: 'success' };
  if (slipped) return { tone: 'slip', text: 'slipped' };
  return effective
    ? { tone: 'plain', text: 'changed the state' }
    : { tone: 'idle', text: 'changed nothing', note: 'no effect' };
}
