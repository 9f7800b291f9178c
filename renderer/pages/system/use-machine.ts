import { useEffect, useState } from 'react';
import type { ApiError, Finding, Machine, MachineSample } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** Number of samples in an hour. */
const kept = 720;

interface MachineState {
  machine: Machine | null;
  samples: MachineSample[];
  /** Milliseconds between samples. */
  interval: number;
  findings: Finding[] | null;
  problem: ApiError | null;
}

const unknown: MachineState = { machine: null, samples: [], interval: 0, findings: null, problem: null };

/** Hardware use and checks, updated while the page is open. Increase `again` to rerun the checks. */
export function useMachine(again: number): MachineState {
  const api = useApi();
  const connected = useApp(({ connection }) => connection === 'open');
  const [state, setState] = useState(unknown);
  useEffect(() => {
    if (!connected) return;
    let current = true;
    const fail = (cause: unknown) =>
      current && setState((before) => ({ ...before, problem: asFailure(cause).toApiError() }));
    const stop = api.on('machine', (sample) =>
      setState((before) => ({ ...before, samples: [...before.samples, sample].slice(-kept) })),
    );
    api
      .call('machine.gauges', {})
      .then(
        ({ machine, samples, interval }) =>
          current && setState((before) => ({ ...before, machine, samples, interval, problem: null })),
      )
      .catch(fail);
    return () => {
      current = false;
      stop();
    };
  }, [api, connected]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `again` reruns the effect.
  useEffect(() => {
    if (!connected) return;
    let current = true;
    api.call('machine.findings', {}).then(
      (findings) => current && setState((before) => ({ ...before, findings })),
      (cause) => current && setState((before) => ({ ...before, problem: asFailure(cause).toApiError() })),
    );
    return () => {
      current = false;
    };
  }, [api, connected, again]);
  return state;
}
