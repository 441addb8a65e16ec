/** Lines of a statement as the readers take them. */
import { readMovements, type ReadStatement } from '../../src/settlement/statement-movements.ts';
import type { StatementLine } from '../../src/provider/provider.ts';

/** The movements of lines that were read now, from days long ago on. */
export function readLines(lines: readonly StatementLine[]): ReadStatement {
  const readAt = new Date('2026-05-24T12:00:00Z');
  return readMovements({ lines, from: new Date(0), readAt, isFinal: true });
}
