import { useApp } from 'ink';
import { useDesk } from '../desk-context.ts';
import type { ScreenName } from '../model/desk.ts';
import { bad, good, ofCall, type Notice } from '../model/notice.ts';
import { useCall } from './use-call.ts';
import { useKeys } from './use-keys.ts';
import { useList } from './use-list.ts';

export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly screen: ScreenName | 'logout';
  /** Shown to those who are logged in, to those who are not, or to all. */
  readonly to: 'in' | 'out' | 'all';
}

const choices: readonly Choice[] = [
  { key: 'l', label: 'Log in', screen: 'login', to: 'out' },
  { key: 'b', label: 'Balance', screen: 'balance', to: 'in' },
  { key: 's', label: 'Statement', screen: 'statement', to: 'in' },
  { key: 'p', label: 'Send a PIX', screen: 'send', to: 'in' },
  { key: 'c', label: 'Charge by QR code', screen: 'charge', to: 'in' },
  { key: 'k', label: 'PIX keys', screen: 'keys', to: 'in' },
  { key: 'n', label: 'Onboarding: open an account', screen: 'onboarding', to: 'all' },
  { key: 'o', label: 'Operator: queue, events, stuck payments', screen: 'operator', to: 'all' },
  { key: 'x', label: 'Log out', screen: 'logout', to: 'in' },
];

export interface HomeView {
  readonly choices: readonly Choice[];
  readonly chosen: number;
  readonly notice: Notice | null;
  readonly keys: readonly string[];
}

/** The way to every other screen, and the way out. */
export function useHome(): HomeView {
  const { api, operate, state, act } = useDesk();
  const { exit } = useApp();
  const call = useCall<null>();
  const who = state.holder ? 'in' : 'out';
  const shown = choices
    .filter(({ to }) => to === 'all' || to === who)
    .filter(({ screen }) => screen !== 'operator' || operate !== null);
  const list = useList(shown.length);
  const leave = async (signal: AbortSignal): Promise<null> => {
    const answer = await api.call('logout', {}, signal).catch(() => null);
    // Whatever the service answers, the token is forgotten here.
    api.token = null;
    list.choose();
    act({ type: 'left', remark: answer?.status === 200 ? 'You are logged out.' : onlyHere });
    return null;
  };
  useKeys((press) => {
    if (call.isBusy) return press.key === 'escape' ? call.cancel() : undefined;
    if (list.press(press)) return undefined;
    if (press.text === 'q') return exit();
    if (press.text === 'r' && state.contract === 'missing') return act({ type: 'ask contract' });
    const chosen = shown.find(
      ({ key }, index) => key === press.text || (press.key === 'enter' && index === list.chosen),
    );
    if (chosen?.screen === 'logout') return call.run(leave);
    return chosen && act({ type: 'open', screen: chosen.screen });
  });
  const isMissing = state.contract === 'missing';
  const absent = `No Ponte answers at ${api.url}. Start the service (npm start), then press r.`;
  return {
    choices: shown,
    chosen: list.chosen,
    notice: ofCall(call) ?? bad(isMissing ? absent : null) ?? good(state.remark),
    keys: ['↑↓ choose', 'enter open', 'or its letter', ...(isMissing ? ['r try again'] : [])],
  };
}

const onlyHere = 'You are logged out here. The service did not confirm it.';
