/** Compares the stored and the reported payments with the provider's ledger. */
import type { PixAudit } from '../../src/operator/pix-audit.ts';
import type { LedgerPayment } from '../../src/provider/sandbox/ledger.ts';
import type { ReportedPayment } from './customers.ts';

export interface StoredSend {
  readonly id: string;
  readonly idempotency_key: string;
  readonly status: string;
  readonly phase: string;
}

export interface Evidence {
  readonly executed: readonly LedgerPayment[];
  readonly stored: readonly StoredSend[];
  readonly reported: readonly ReportedPayment[];
  readonly audit: PixAudit;
  readonly deadJobs: number;
}

/** @returns the violations, each as a sentence. */
export function verdict({ executed, stored, reported, audit, deadJobs }: Evidence): string[] {
  const faults: string[] = [];
  const rows = new Map(stored.map((row) => [row.idempotency_key, row]));
  const ledger = new Map(executed.map((payment) => [payment.clientRequestId, payment]));
  if (ledger.size < executed.length) faults.push('the provider has made a payment twice');
  if (rows.size < stored.length) faults.push('two transactions have one key');
  for (const key of ledger.keys()) {
    const row = rows.get(key);
    if (!row) faults.push(`payment ${key} was executed, and has no row`);
    else if (row.status !== 'COMPLETED') {
      faults.push(`payment ${key} was executed and is ${row.status} (${row.phase})`);
    }
  }
  for (const { idempotency_key: key, status, phase } of stored) {
    if (ledger.has(key)) continue;
    if (status === 'COMPLETED') faults.push(`payment ${key} is COMPLETED and was not executed`);
    // A payment that may have been sent, but was not, waits for an operator.
    if (status === 'PROCESSING' && phase !== 'UNKNOWN')
      faults.push(`payment ${key} is in ${phase}`);
  }
  for (const { key, transactionId, status } of reported) {
    const row = rows.get(key);
    if (transactionId !== null && row?.id !== transactionId) {
      faults.push(`payment ${key} was acknowledged as ${transactionId}, and is ${row?.id}`);
    }
    const isFailed = status === 'FAILED' || status === '502';
    if (isFailed && ledger.has(key)) faults.push(`payment ${key} was called failed and executed`);
    if (status === 'COMPLETED' && !ledger.has(key)) faults.push(`${key} was called COMPLETED`);
  }
  const broken = audit.invariants.filter((invariant) => invariant.broken > 0);
  faults.push(...broken.map(({ says }) => `pix audit: ${says}`));
  if (deadJobs > 0) faults.push(`${deadJobs} jobs are dead`);
  return faults;
}
