/** `ponte pix audit`: the rules of money, held against the rows. */
import type { InvariantResult } from '../../src/operator/pix-audit.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

/** Audits; exit 1 when a rule is broken. */
export async function pixAudit(
  { run, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<ExitCode> {
  const audit = await run('pix audit', {});
  const code = audit.ok ? exitCodes.done : exitCodes.bad;
  if (json) {
    terminal.json(audit);
    return code;
  }
  for (const rule of audit.invariants) terminal.print(...linesOf(rule, terminal));
  const { transactions, events, jobs } = audit.checked;
  const broken = audit.invariants.filter((one) => one.broken > 0).length;
  const looked = `${transactions} transactions, ${events} waiting events, ${jobs} running jobs`;
  const rules = audit.invariants.length;
  terminal.print(
    '',
    `${looked}: ${audit.ok ? 'every rule holds' : `${broken} of ${rules} broken`}.`,
  );
  return code;
}

function linesOf(rule: InvariantResult, { tone }: Desk['terminal']): string[] {
  if (rule.broken === 0) return [`${tone('good', 'holds ')}  ${rule.says}`];
  const more = rule.broken - rule.rows.length;
  return [
    `${tone('bad', 'BROKEN')}  ${rule.says} (${rule.broken})`,
    ...rule.rows.map(({ id, found }) => `          ${rule.of} ${id}: ${found}`),
    ...(more > 0 ? [`          … and ${more} more`] : []),
  ];
}
