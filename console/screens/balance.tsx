import { Frame } from '../components/frame.tsx';
import { Toned } from '../components/toned.tsx';
import { useBalance } from '../listen/use-balance.ts';
import { money } from '../model/money.ts';

const sources = {
  provider: 'Source: provider. The bank says so now.',
  local: 'Source: local. The bank does not answer; this is what it said last.',
} as const;

export function Balance() {
  const { balance, notice } = useBalance();
  return (
    <Frame title="balance" keys={['r ask again']} notice={notice}>
      {() =>
        balance && (
          <>
            <Toned bold>{money(balance.balance)}</Toned>
            <Toned tone={balance.source === 'local' ? 'doubtful' : 'faint'} wrap="wrap">
              {sources[balance.source]}
            </Toned>
          </>
        )
      }
    </Frame>
  );
}
