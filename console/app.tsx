/** The console: which screen is shown, and what all of them share. */
import { ThemeProvider } from '@inkjs/ui';
import { useWindowSize } from 'ink';
import { useEffect, useMemo, useReducer, type ComponentType } from 'react';
import { themeOf } from './components/theme.ts';
import { DeskContext, type Desk } from './desk-context.ts';
import { beginning, reduceDesk, type ScreenName } from './model/desk.ts';
import { useContract } from './listen/use-contract.ts';
import { KeyboardContext, useKeyboard } from './listen/use-keys.ts';
import { sessionEnded } from './model/outcomes.ts';
import { isTooSmall } from './model/window.ts';
import { Balance } from './screens/balance.tsx';
import { Charge } from './screens/charge.tsx';
import { Home } from './screens/home.tsx';
import { Keys } from './screens/keys.tsx';
import { Login } from './screens/login.tsx';
import { Onboarding } from './screens/onboarding.tsx';
import { Operator } from './screens/operator.tsx';
import { Send } from './screens/send.tsx';
import { Statement } from './screens/statement.tsx';

const screens: Readonly<Record<ScreenName, ComponentType>> = {
  home: Home,
  login: Login,
  balance: Balance,
  statement: Statement,
  send: Send,
  charge: Charge,
  keys: Keys,
  onboarding: Onboarding,
  operator: Operator,
};

export type AppProps = Pick<Desk, 'api' | 'operate' | 'login' | 'hasColours'>;

export function App({ api, operate, login, hasColours }: AppProps) {
  const [state, act] = useReducer(reduceDesk, beginning);
  const keyboard = useKeyboard({ isDeaf: isTooSmall(useWindowSize()) });
  useContract({ api, contract: state.contract, act });
  useEffect(() => {
    api.onRefused = (outcome) => act({ type: 'ended', remark: sessionEnded(outcome) });
  }, [api]);
  const desk = useMemo(
    () => ({ api, operate, login, hasColours, state, act }),
    [api, operate, login, hasColours, state],
  );
  const name = state.path.at(-1) ?? 'home';
  const Screen = screens[name];
  return (
    <ThemeProvider theme={themeOf(hasColours)}>
      <KeyboardContext.Provider value={keyboard}>
        <DeskContext.Provider value={desk}>
          <Screen key={name} />
        </DeskContext.Provider>
      </KeyboardContext.Provider>
    </ThemeProvider>
  );
}
