import type { PresetCard } from '../../../core/contract/contract.ts';
import { environmentOf } from '../../environments/registry.ts';

/** A small still of each environment of a preset; decoration. */
export function Illustration({ environments }: Pick<PresetCard, 'environments'>) {
  const small = environments.length > 1;
  return (
    <div className="preset-pictures">
      {environments.map(({ type, config }, index) => {
        const { Illustration: Picture } = environmentOf(type);
        // biome-ignore lint/suspicious/noArrayIndexKey: an environment may be there twice
        return <Picture key={index} config={config} small={small} />;
      })}
    </div>
  );
}
