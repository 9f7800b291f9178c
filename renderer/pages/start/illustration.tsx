import type { Frame, PresetCard } from '../../../core/contract/contract.ts';
import { BanditBoard } from '../../boards/bandit-board.tsx';
import { parseLake } from '../../boards/lake.ts';
import { LakeBoard } from '../../boards/lake-board.tsx';
import { parseRoom } from '../../boards/sokoban.ts';
import { SokobanBoard } from '../../boards/sokoban-board.tsx';

const lake = parseLake('P__O\n_O__\n___O\nO__G')!;
const room = parseRoom('######\n#__#_#\n#PX_O#\n#____#\n##___#\n######')!;
const slip = {
  from: { row: 0, column: 0 },
  to: { row: 1, column: 0 },
  intent: { row: 0, column: 1 },
  slipped: true,
};
const pull: Frame = {
  turn: 0,
  step: 0,
  action: 'Dragon',
  board: null,
  reward: 1,
  total: 1,
  effective: true,
  slipped: false,
  done: true,
  success: true,
  deadEnd: false,
};

/** A small still of the environment for its preset's card; decoration. */
export function Illustration({ environments }: Pick<PresetCard, 'environments'>) {
  const [first, ...others] = environments;
  const environment = others.length > 0 ? 'mixed' : first?.type;
  const slippery = first?.config.is_slippery === true;
  if (environment === 'bandit') return <BanditBoard arms={['Phoenix', 'Dragon']} config={{}} frame={pull} />;
  if (environment === 'sokoban')
    return (
      <div className="preset-room">
        <SokobanBoard room={room} />
      </div>
    );
  if (environment === 'mixed')
    return (
      <div className="preset-both">
        <LakeBoard lake={lake} trail={[]} />
        <BanditBoard arms={['Phoenix', 'Dragon']} config={{}} frame={pull} />
      </div>
    );
  if (!slippery) return <LakeBoard lake={lake} trail={[]} />;
  return <LakeBoard lake={{ ...lake, agent: slip.to }} move={slip} />;
}
