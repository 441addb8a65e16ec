/** Gets the contract from the service, which also tells whether it is there. */
import { useEffect } from 'react';
import type { Api } from '../api.ts';
import type { DeskAction, DeskState } from '../model/desk.ts';
import { checksOf } from '../model/schemas.ts';

export interface ContractOptions {
  readonly api: Api;
  readonly contract: DeskState['contract'];
  act(action: DeskAction): void;
}

/** Asks for it whenever it is to be asked for. */
export function useContract({ api, contract, act }: ContractOptions): void {
  const isAsked = contract === 'asked';
  useEffect(() => {
    if (!isAsked) return undefined;
    const controller = new AbortController();
    api
      .contract(controller.signal)
      .then((yaml) => act({ type: 'contract', checks: checksOf(yaml) }))
      .catch(() => {
        if (!controller.signal.aborted) act({ type: 'contract', checks: null });
      });
    return () => controller.abort();
  }, [api, isAsked]);
}
