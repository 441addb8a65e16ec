/** Texts in colours, where the terminal has them. */
import { defaultTheme, extendTheme } from '@inkjs/ui';
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { useApp } from '../hooks/use-app.ts';
import type { Colour, Line } from '../state/text.ts';

const colours: Partial<Record<Colour, string>> = { good: 'green', bad: 'red', doubtful: 'yellow' };

export interface ColouredProps {
  readonly colour?: Colour | undefined;
  readonly bold?: boolean;
  readonly inverse?: boolean;
  readonly wrap?: 'truncate-end' | 'wrap';
  readonly children: ReactNode;
}

/** A text on one line, unless it wraps. */
export function Coloured(props: ColouredProps) {
  const { colour = 'plain', bold = false, wrap = 'truncate-end', ...rest } = props;
  const { hasColours } = useApp();
  const color = hasColours ? colours[colour] : undefined;
  return (
    <Text
      {...(color !== undefined && { color })}
      {...{ ...rest, wrap }}
      bold={bold || colour === 'strong'}
      dimColor={colour === 'faint'}
    />
  );
}

/** Lines below each other. */
export function Lines({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <Box flexDirection="column" flexShrink={0}>
      {lines.map(({ text, colour }, index) => (
        <Coloured key={index} colour={colour}>
          {text === '' ? ' ' : text}
        </Coloured>
      ))}
    </Box>
  );
}

/** The theme of `@inkjs/ui` for a terminal without colours. */
export const colourlessTheme = extendTheme(defaultTheme, {
  components: {
    Spinner: { styles: { frame: () => ({}) } },
    ProgressBar: { styles: { completed: () => ({}) } },
    StatusMessage: { styles: { icon: () => ({}) } },
  },
});
