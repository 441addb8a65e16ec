/** The console: the state that all screens share, and the screen that is shown. */
import { defaultTheme, ThemeProvider } from '@inkjs/ui';
import { Box, useApp as useInk, useWindowSize } from 'ink';
import { useEffect, useMemo, useRef, useState, type ComponentType } from 'react';
import { BesideScreen } from './components/beside.tsx';
import { colourlessTheme } from './components/coloured.tsx';
import { Doubts } from './components/doubts.tsx';
import { isTooSmall, TooSmall } from './components/frame.tsx';
import { AppContext, type AppValue } from './hooks/use-app.ts';
import { KeyboardContext, useKeyboard, type Keyboard, type Press } from './hooks/use-keys.ts';
import { Balance } from './screens/balance.tsx';
import { Charge } from './screens/charge.tsx';
import { Home } from './screens/home.tsx';
import { Limits } from './screens/limits.tsx';
import { Login } from './screens/login.tsx';
import { Onboarding } from './screens/onboarding.tsx';
import { Operator } from './screens/operator.tsx';
import { Overlay, type OverlayName } from './screens/overlay.tsx';
import { PixKeys } from './screens/pix-keys.tsx';
import { Send } from './screens/send.tsx';
import { Statement } from './screens/statement.tsx';
import { Transactions } from './screens/transactions.tsx';
import {
  initialState,
  loseSession,
  noteCopy,
  ordersInDoubt,
  type ScreenName,
} from './state/app-state.ts';
import { sessionEnded } from './state/outcomes.ts';

const screens: Readonly<Record<ScreenName, ComponentType>> = {
  home: Home,
  login: Login,
  balance: Balance,
  statement: Statement,
  transactions: Transactions,
  send: Send,
  charge: Charge,
  limits: Limits,
  keys: PixKeys,
  onboarding: Onboarding,
  operator: Operator,
};

export type AppProps = Pick<AppValue, 'api' | 'operate' | 'login' | 'hasColours'> &
  Partial<Pick<AppValue, 'copy'>>;

function findOverlay({ key, text }: Press, isTyping: boolean): OverlayName | null {
  if (key === 'ctrl+t') return 'request';
  return text === '?' && key === 'text' && !isTyping ? 'keys' : null;
}

export function App({ api, operate, login, hasColours, copy = () => undefined }: AppProps) {
  const [state, change] = useState(initialState);
  const [overlay, show] = useState<OverlayName | null>(null);
  const { exit } = useInk();
  const isSure = ordersInDoubt(state).length === 0;
  // Pressed twice, ctrl+c ends the console even while a payment is in doubt.
  const quit = (): void => (isSure || overlay === 'quit' ? exit() : show('quit'));
  const size = useWindowSize();
  const isHidden = isTooSmall(size);
  const keyboard = useKeyboard({
    isDeaf: isHidden,
    onPress(press, isTyping) {
      if (state.hasCopied) change(noteCopy(false));
      if (press.key === 'ctrl+c') {
        quit();
        return true;
      }
      if (overlay !== null) return false;
      const wanted = findOverlay(press, isTyping);
      if (wanted !== null) show(wanted);
      return wanted !== null;
    },
  });
  // The screen below stays active, but receives no keys.
  const deaf = useRef<Keyboard['current']>(null);
  useEffect(() => {
    api.onRefused = () => change(loseSession(sessionEnded));
  }, [api]);
  const shared = useMemo(
    () => ({
      api,
      operate,
      login,
      hasColours,
      state,
      change,
      quit,
      copy(text: string) {
        copy(text);
        change(noteCopy(true));
      },
    }),
    [api, operate, login, hasColours, copy, state, overlay],
  );
  const name = state.path.at(-1) ?? 'home';
  const Screen = screens[name];
  return (
    <ThemeProvider theme={hasColours ? defaultTheme : colourlessTheme}>
      <AppContext.Provider value={shared}>
        <Doubts />
        <KeyboardContext.Provider value={overlay === null ? keyboard : deaf}>
          <Box display={overlay === null && !isHidden ? 'flex' : 'none'}>
            <BesideScreen name={name}>
              <Screen key={name} />
            </BesideScreen>
          </Box>
        </KeyboardContext.Provider>
        {isHidden && <TooSmall {...size} />}
        {overlay !== null && !isHidden && (
          <KeyboardContext.Provider value={keyboard}>
            <Overlay name={overlay} close={() => show(null)} />
          </KeyboardContext.Provider>
        )}
      </AppContext.Provider>
    </ThemeProvider>
  );
}
