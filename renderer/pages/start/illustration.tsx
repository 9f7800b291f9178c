import type { PresetCard } from '../../../core/contract/contract.ts';
import { inOrder } from '../../components/in-order.ts';
import { environmentOf } from '../../environments/registry.ts';

/** Shows a small picture of each environment in a preset (decorative). */
export function Illustration({ environments }: Pick<PresetCard, 'environments'>) {
  const small = environments.length > 1;
  return (
    <div className="preset-pictures">
      {inOrder(environments, ({ type, config }) => {
        const { Illustration: Picture } = environmentOf(type);
        return <Picture config={config} small={small} />;
      })}
    </div>
  );
}
