/** The account card, and where one can go. */
import { Box } from 'ink';
import { Frame, type Room } from '../components/frame.tsx';
import { LinesView } from '../components/lines-view.tsx';
import { Toned } from '../components/toned.tsx';
import { useDesk } from '../desk-context.ts';
import type { Holder } from '../model/desk.ts';
import { factLines } from '../model/lines.ts';
import { useHome } from '../listen/use-home.ts';
import { toneOf } from '../model/tones.ts';

export function Home() {
  const { holder } = useDesk().state;
  const { choices, chosen, notice, keys } = useHome();
  return (
    <Frame title="home" keys={keys} notice={notice}>
      {(room) => (
        <>
          {holder && <AccountCard {...{ holder, room }} />}
          {choices.map(({ key, label }, index) => (
            <Box key={key} flexShrink={0}>
              <Toned bold={index === chosen} inverse={index === chosen}>
                {`${index === chosen ? '›' : ' '} ${key}  ${label} `}
              </Toned>
            </Box>
          ))}
        </>
      )}
    </Frame>
  );
}

/** From so many rows on there is room for a card with a border. */
const roomyRows = 20;

function AccountCard({ holder, room }: { readonly holder: Holder; readonly room: Room }) {
  const { user, account } = holder;
  const border = room.rows >= roomyRows ? ({ borderStyle: 'round', paddingX: 1 } as const) : {};
  const number = account && `${account.agency ?? '–'} / ${account.account_number ?? '–'}`;
  return (
    <Box {...border} flexDirection="column" marginBottom={1} flexShrink={0}>
      <LinesView
        lines={factLines(
          [
            ['Name', user.name],
            ['Document', user.document],
            ['Account', number ?? 'none yet'],
          ],
          room.columns - 4,
        )}
      />
      <Box>
        <Toned>{'Status    '}</Toned>
        <Toned tone={toneOf(account?.status ?? '')} bold>
          {account?.status ?? '–'}
        </Toned>
      </Box>
    </Box>
  );
}
