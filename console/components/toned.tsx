/** A text that is told by its colour too, where there are colours; words never need them. */
import { Text } from 'ink';
import type { ReactNode } from 'react';
import { useDesk } from '../desk-context.ts';
import type { Tone } from '../model/lines.ts';

const colours: Partial<Record<Tone, string>> = {
  good: 'green',
  bad: 'red',
  doubtful: 'yellow',
  accent: 'cyan',
};

export interface TonedProps {
  readonly tone?: Tone | undefined;
  readonly bold?: boolean;
  readonly inverse?: boolean;
  readonly wrap?: 'truncate-end' | 'truncate-start' | 'hard' | 'wrap';
  readonly children: ReactNode;
}

/** One line, unless it is told to wrap. */
export function Toned(props: TonedProps) {
  const { tone = 'plain', bold = false, inverse = false, wrap = 'truncate-end', children } = props;
  const { hasColours } = useDesk();
  const color = hasColours ? colours[tone] : undefined;
  return (
    <Text
      {...(color !== undefined && { color })}
      bold={bold || tone === 'strong'}
      dimColor={tone === 'faint'}
      inverse={inverse}
      wrap={wrap}
    >
      {children}
    </Text>
  );
}
