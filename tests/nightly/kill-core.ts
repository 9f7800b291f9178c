import { killFollowingCore } from '../core/fixtures/killing.ts';
import { World } from '../core/fixtures/world.ts';

/** Kills core repeatedly on one data folder; see {@link killFollowingCore}. */
export async function killCore(kills: number, random: () => number) {
  const world = new World();
  try {
    return { kills, ...(await killFollowingCore(world, kills, random)) };
  } finally {
    await world.close();
  }
}
