/** The balance and its source. */
import { readFaults } from '../api.ts';
import { Coloured } from '../components/coloured.tsx';
import { Frame } from '../components/frame.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { back } from '../state/app-state.ts';
import { formatAmount } from '../state/format.ts';
import { failure, reading } from '../state/notice.ts';

const sources = {
  provider: 'Source: provider. This is the current balance at the bank.',
  local: 'Source: local. The bank does not answer; this is the last known balance.',
} as const;

export function Balance() {
  const { api, change } = useApp();
  const call = useRead((signal) => api.call('getBalance', {}, signal));
  useKeys(({ key, text }) => {
    if (key === 'escape') change(back);
    else if (text === 'r' && !call.isBusy) call.read();
  });
  const response = call.result;
  const balance = response?.status === 200 ? response.body : null;
  const { '': fault } = response ? readFaults(response) : {};
  const refused = response?.status === 404 ? 'There is no account yet.' : fault;
  return (
    <Frame title="balance" hints={['r refresh']} notice={reading(call) ?? failure(refused)}>
      {() =>
        balance && (
          <>
            <Coloured bold>{formatAmount(balance.balance)}</Coloured>
            {balance.blocked !== undefined && (
              <Coloured colour="doubtful" wrap="wrap">
                {`Of which ${formatAmount(balance.blocked)} is blocked by the bank.`}
              </Coloured>
            )}
            <Coloured colour={balance.source === 'local' ? 'doubtful' : 'faint'} wrap="wrap">
              {sources[balance.source]}
            </Coloured>
          </>
        )
      }
    </Frame>
  );
}
