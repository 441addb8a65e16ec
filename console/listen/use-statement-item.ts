import { useWindowSize } from 'ink';
import type { Statement } from '../../contract/types.ts';
import { factLines, type Line } from '../model/lines.ts';
import { localFacts, remoteFacts } from '../model/statement-columns.ts';
import { useScroll, type ScrollHandle } from './use-scroll.ts';

export interface ItemView {
  readonly lines: readonly Line[];
  readonly scroll: ScrollHandle;
}

/** All that is known of the chosen item; what the bank tells may need more lines than there are. */
export function useItem(
  statement: Statement | null,
  side: keyof Statement['items'],
  chosen: number,
): ItemView {
  const { columns } = useWindowSize();
  const { local, remote } = statement?.items ?? { local: [], remote: [] };
  const [ours, theirs] = [local[chosen], remote[chosen]];
  const facts = side === 'local' ? ours && localFacts(ours) : theirs && remoteFacts(theirs);
  const lines = factLines(facts ?? [], columns - 2);
  return { lines, scroll: useScroll(lines.length) };
}
