/** The rules of `ponte pix audit` that stored transactions break. */
import { auditPix } from '../../src/operator/pix-audit.ts';
import type { TestApp } from './app.ts';

/**
 * Runs the audit.
 * @param transactionId only what this transaction or its refunds break; by default of all.
 * @returns the rules, each with what is found.
 */
export async function findBrokenRules(
  { context, rows: read }: Pick<TestApp, 'context' | 'rows'>,
  transactionId: string | null = null,
): Promise<string[]> {
  const { invariants } = await auditPix.run(
    context,
    {},
    { operator: 'test', progress: () => undefined },
  );
  const own = await read<{ id: string }>(
    'select id from pix_transactions where $1::uuid in (id, original_id)',
    [transactionId],
  );
  const ids = new Set<string | null>(own.map(({ id }) => id));
  return invariants.flatMap(({ name, broken, rows }) => {
    const named = rows.filter(({ id }) => transactionId === null || ids.has(id));
    const isBroken = transactionId === null ? broken > 0 : named.length > 0;
    return isBroken ? [[name, ...named.map(({ found }) => found)].join(': ')] : [];
  });
}
