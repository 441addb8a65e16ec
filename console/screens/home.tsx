/** The account of the customer, and the way to every other screen. */
import { Box } from 'ink';
import { useEffect } from 'react';
import type { Api } from '../api.ts';
import { Coloured, Lines } from '../components/coloured.tsx';
import { Frame } from '../components/frame.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall, useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { useQuestion } from '../hooks/use-question.ts';
import { logOut, open, ordersInDoubt, type Holder } from '../state/app-state.ts';
import { formatAmount, formatBank, formatTaxId } from '../state/format.ts';
import { failure, success, writing } from '../state/notice.ts';
import { factLines, statusColour, type Room } from '../state/text.ts';

/** `needs` says whether a choice is shown with a session, without one, or always. */
const choices = [
  { key: 'l', label: 'Log in', screen: 'login', needs: 'no session' },
  { key: 'b', label: 'Balance', screen: 'balance', needs: 'session' },
  { key: 's', label: 'Statement', screen: 'statement', needs: 'session' },
  { key: 't', label: 'Transactions and receipts', screen: 'transactions', needs: 'session' },
  { key: 'p', label: 'Send a Pix', screen: 'send', needs: 'session' },
  { key: 'c', label: 'Charge by QR code', screen: 'charge', needs: 'session' },
  { key: 'm', label: 'Limits', screen: 'limits', needs: 'session' },
  { key: 'k', label: 'Pix keys', screen: 'keys', needs: 'session' },
  { key: 'n', label: 'Onboarding: open an account', screen: 'onboarding', needs: null },
  { key: 'o', label: 'Operator: queue, payments, reconciliation', screen: 'operator', needs: null },
  { key: 'x', label: 'Log out', screen: 'logout', needs: 'session' },
] as const;

export function Home() {
  const { api, operate, state, change, quit } = useApp();
  const { holder, remark } = state;
  const ping = useRead((signal) => api.ping(signal));
  const logout = useCall<null>();
  const balance = useCall<string>();
  useEffect(() => {
    if (holder?.account) balance.run((signal) => readBalance(api, signal));
  }, [holder]);
  const leave = async (signal: AbortSignal): Promise<null> => {
    const response = await api.call('logout', {}, signal).catch(() => null);
    // The console forgets the token after any response.
    api.token = null;
    list.choose(0);
    const where = response?.status === 200 ? '' : ' here; the service did not confirm it';
    change(logOut(`You are logged out${where}.`));
    return null;
  };
  const question = useQuestion();
  const session = holder ? 'session' : 'no session';
  const shown = choices.filter(
    ({ needs, screen }) =>
      (needs === null || needs === session) && (screen !== 'operator' || operate !== null),
  );
  const list = useList(shown.length);
  useKeys((press) => {
    const { key, text } = press;
    if (logout.isBusy) return key === 'escape' ? logout.cancel() : undefined;
    if (question.press(press) || list.press(press)) return undefined;
    if (text === 'q') return quit();
    if (text === 'r' && ping.failure !== null) return ping.read();
    if (text === 'r' && holder?.account) {
      return balance.run((signal) => readBalance(api, signal));
    }
    const chosen = key === 'enter' ? shown[list.chosen] : shown.find((one) => one.key === text);
    if (chosen?.screen === 'logout') {
      const act = (): void => logout.run(leave);
      return ordersInDoubt(state).length > 0 ? question.ask(askBeforeLogout, act) : act();
    }
    return chosen && change(open(chosen.screen));
  });
  const absent = `No Ponte answers at ${api.url}. Start the service (npm start), then press r.`;
  const hints = ['↑↓ choose', 'enter open', 'or its letter', '? keys'];
  return (
    <Frame
      title="home"
      hints={ping.failure === null ? hints : [...hints, 'r try again']}
      notice={
        question.notice ?? writing(logout) ?? failure(ping.failure && absent) ?? success(remark)
      }
    >
      {(room) => (
        <>
          {holder && (
            <AccountCard {...{ holder, room }} rowsBelow={shown.length} balance={balance.result} />
          )}
          {shown.map(({ key, label }, index) => (
            <Box key={key} flexShrink={0}>
              <Coloured bold={index === list.chosen} inverse={index === list.chosen}>
                {`${index === list.chosen ? '›' : ' '} ${key}  ${label} `}
              </Coloured>
            </Box>
          ))}
        </>
      )}
    </Frame>
  );
}

const askBeforeLogout =
  'A payment or a return may have been made: its end is not known, and its key would be ' +
  'forgotten. Log out?';

/** The balance as a text; a dash where there is none. */
async function readBalance(api: Api, signal: AbortSignal): Promise<string> {
  const response = await api.call('getBalance', {}, signal);
  if (response.status !== 200) return '–';
  const { balance, source } = response.body;
  return `${formatAmount(balance)}${source === 'local' ? ' (last known)' : ''}`;
}

interface AccountCardProps {
  readonly holder: Holder;
  /** How many rows follow. */
  readonly rowsBelow: number;
  readonly room: Room;
  /** Null until it is known. */
  readonly balance: string | null;
}

function AccountCard({ holder, room, rowsBelow, balance }: AccountCardProps) {
  const { user, account } = holder;
  const number =
    account && `${account.agency ?? '–'} / ${account.account_number ?? '–'} · ${account.status}`;
  const facts = [
    ['Name', user.name],
    ['Document', user.document && formatTaxId(user.document)],
    ['Account', number ?? 'none yet'],
    ['Bank', account && formatBank(account.bank)],
    ['Balance', balance ?? '…'],
  ] as const;
  const colour = statusColour(account?.status ?? '');
  const lines = factLines(facts, room.columns).map((line) =>
    line.text.startsWith('Account') ? { text: line.text, colour } : line,
  );
  return (
    <Box marginBottom={room.rows > lines.length + rowsBelow ? 1 : 0} flexShrink={0}>
      <Lines lines={lines} />
    </Box>
  );
}
