import { useEffect } from 'react';
import type { Balance } from '../../contract/types.ts';
import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import { bad, ofRead, type Notice } from '../model/notice.ts';
import { useCall } from './use-call.ts';
import { useKeys } from './use-keys.ts';

/** Asks for the balance, at first and whenever `r` is pressed. */
export function useBalance(): { readonly balance: Balance | null; readonly notice: Notice | null } {
  const { api, act } = useDesk();
  const call = useCall<Answer<'getBalance'>>({ isKept: true });
  const ask = (): void => call.run((signal) => api.call('getBalance', {}, signal));
  useEffect(ask, []);
  useKeys((press) => {
    if (press.key === 'escape') return act({ type: 'back' });
    return press.text === 'r' && !call.isBusy ? ask() : undefined;
  });
  const answer = call.result;
  return {
    balance: answer?.status === 200 ? answer.body : null,
    notice: ofRead(call) ?? bad(answer?.status === 404 ? none : answer && refusalsOf(answer)['']),
  };
}

const none = 'There is no balance: there is no account yet.';
