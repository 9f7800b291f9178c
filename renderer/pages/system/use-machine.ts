import { useEffect, useState } from 'react';
import type { ApiError, Finding, Machine, MachineSample } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** Number of samples in an hour. */
const maxSamples = 720;

interface MachineState {
  machine: Machine | null;
  samples: MachineSample[];
  /** Milliseconds between samples. */
  interval: number;
  findings: Finding[] | null;
  problem: ApiError | null;
}

const initialState: MachineState = { machine: null, samples: [], interval: 0, findings: null, problem: null };

/** Returns hardware use and checks, updated while the page is open. Increase `check` to rerun the checks. */
export function useMachine(check: number): MachineState {
  const api = useApi();
  const connected = useApp(({ connection }) => connection === 'open');
  const [state, setState] = useState(initialState);
  useEffect(() => {
    if (!connected) return;
    let active = true;
    const fail = (cause: unknown) =>
      active && setState((before) => ({ ...before, problem: asFailure(cause).toApiError() }));
    const stop = api.on('machine', (sample) =>
      setState((before) => ({ ...before, samples: [...before.samples, sample].slice(-maxSamples) })),
    );
    api
      .call('machine.gauges', {})
      .then(
        ({ machine, samples, interval }) =>
          active && setState((before) => ({ ...before, machine, samples, interval, problem: null })),
      )
      .catch(fail);
    return () => {
      active = false;
      stop();
    };
  }, [api, connected]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `check` reruns the effect.
  useEffect(() => {
    if (!connected) return;
    let active = true;
    api.call('machine.findings', {}).then(
      (findings) => active && setState((before) => ({ ...before, findings })),
      (cause) => active && setState((before) => ({ ...before, problem: asFailure(cause).toApiError() })),
    );
    return () => {
      active = false;
    };
  }, [api, connected, check]);
  return state;
}
