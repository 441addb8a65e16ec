/**
 * The rule that a charge of a dynamic code is paid once: a part of the statement that reads what a
 * send is judged by.
 */

import { isUnaccounted } from './block.ts';

/** What has become of the payment of a code. `PERHAPS`: a lost send may have paid it. */
export type CodeHolder = 'PROCESSING' | 'COMPLETED' | 'PERHAPS';

/** The dynamic code that a send pays. */
export interface CodeReservation {
  /** Of the charge behind its address. */
  readonly digest: Buffer;
  /** Of the charge of its payee; null: the bank has not said who that is. */
  readonly payeeDigest: Buffer | null;
  /** Of the charge of the key that it is paid to. */
  readonly keyDigest: Buffer;
  /** When the payee's institution has said that it can be paid. */
  readonly askedAt: Date;
}

/** The parameters of {@link codeHolder}, with their types. */
export const codeTypes = {
  codeDigest: 'bytea null',
  codeAskedAt: 'timestamptz null',
  codePayeeDigest: 'bytea null',
  codeKeyDigest: 'bytea null',
} as const;

/**
 * The digest of a send that was stored again after a loss of commits: which code it has paid, if
 * any, is lost.
 */
export const unknownCode = Buffer.alloc(0);

const unknownCodeInSql = "'\\x'";

/** @returns the parameters of a send; without a code, nothing is read. */
export function codeParameters(code: CodeReservation | null = null) {
  const { digest = null, askedAt = null, payeeDigest = null, keyDigest = null } = code ?? {};
  return {
    codeDigest: digest,
    codeAskedAt: askedAt,
    codePayeeDigest: payeeDigest,
    codeKeyDigest: keyDigest,
  };
}

/**
 * A column: what has become of a send of the same user that pays the same charge and has not
 * failed: the one behind the same address, or the one of the same payee or key behind another.
 * A lost send may be one, of whatever amount: what a code asks for grows with interest, or is the
 * payer's choice. It is none if the payee's institution has said, after that send had ended, that
 * the code can be paid. The clocks of two processes may differ by ten minutes. The same holds for a
 * payment that the statement shows and no send accounts for, from when it was read.
 * @param row a table expression with the columns `user_id` and those of `codeTypes`.
 */
export function codeHolder(row: string): string {
  return `case when ${row}.code_digest is not null then coalesce(
             (select case when t.code_digest = ${unknownCodeInSql} then 'PERHAPS' else t.status end
                from pix_transactions t
               where t.user_id = ${row}.user_id
                 and (t.code_digest in (${row}.code_digest, ${unknownCodeInSql})
                      or t.code_payee_digest = ${row}.code_payee_digest
                      or t.code_key_digest = ${row}.code_key_digest)
                 and t.status <> 'FAILED'
                 and (t.code_digest <> ${unknownCodeInSql}
                      or coalesce(t.settled_at + interval '10 minutes'
                                  >= ${row}.code_asked_at, true))
               order by t.code_digest desc limit 1),
             case when exists (select from reconciliation_differences line
                                where line.user_id = ${row}.user_id
                                  and line.blocks in ('SEND', 'ANY')
                                  and line.found_at + interval '10 minutes' >= ${row}.code_asked_at
                                  and ${isUnaccounted})
                  then 'PERHAPS' end) end`;
}
