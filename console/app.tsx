/** The console: the state that all screens share, and the screen that is shown. */
import { defaultTheme, ThemeProvider } from '@inkjs/ui';
import { useWindowSize } from 'ink';
import { useEffect, useMemo, useState, type ComponentType } from 'react';
import { colourlessTheme } from './components/coloured.tsx';
import { isTooSmall } from './components/frame.tsx';
import { AppContext, type AppValue } from './hooks/use-app.ts';
import { KeyboardContext, useKeyboard } from './hooks/use-keys.ts';
import { Balance } from './screens/balance.tsx';
import { Charge } from './screens/charge.tsx';
import { Home } from './screens/home.tsx';
import { Login } from './screens/login.tsx';
import { Onboarding } from './screens/onboarding.tsx';
import { Operator } from './screens/operator.tsx';
import { PixKeys } from './screens/pix-keys.tsx';
import { Send } from './screens/send.tsx';
import { Statement } from './screens/statement.tsx';
import { Transactions } from './screens/transactions.tsx';
import { initialState, loseSession, type ScreenName } from './state/app-state.ts';
import { sessionEndedText } from './state/outcomes.ts';

const screens: Readonly<Record<ScreenName, ComponentType>> = {
  home: Home,
  login: Login,
  balance: Balance,
  statement: Statement,
  transactions: Transactions,
  send: Send,
  charge: Charge,
  keys: PixKeys,
  onboarding: Onboarding,
  operator: Operator,
};

export type AppProps = Pick<AppValue, 'api' | 'operate' | 'login' | 'hasColours'>;

export function App({ api, operate, login, hasColours }: AppProps) {
  const [state, change] = useState(initialState);
  const keyboard = useKeyboard({ isDeaf: isTooSmall(useWindowSize()) });
  useEffect(() => {
    api.onRefused = (outcome) => change(loseSession(sessionEndedText(outcome)));
  }, [api]);
  const shared = useMemo(
    () => ({ api, operate, login, hasColours, state, change }),
    [api, operate, login, hasColours, state],
  );
  const name = state.path.at(-1) ?? 'home';
  const Screen = screens[name];
  return (
    <ThemeProvider theme={hasColours ? defaultTheme : colourlessTheme}>
      <KeyboardContext.Provider value={keyboard}>
        <AppContext.Provider value={shared}>
          <Screen key={name} />
        </AppContext.Provider>
      </KeyboardContext.Provider>
    </ThemeProvider>
  );
}
