/** `subject export` and `subject erase`: the rights of a person under the LGPD. */
import { emailDigests } from '../auth/security-event-repository.ts';
import { endActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { openDetails } from '../disputes/details.ts';
import { chargeExpired, ownerErasedNote } from '../domain/pix.ts';
import { moveTransaction } from '../ledger/move-repository.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { type Op, OpError } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import {
  erasedEmail,
  eraseSubject,
  findIdentity,
  findSubject,
  lockSubject,
  type Erased,
  type OpenOfSubject,
  type SubjectIdentity,
} from './subject-repository.ts';
import { findEventsNaming, findNamedByOthers } from './subject-search-repository.ts';
import { findUser } from './users.ts';

export interface SubjectInput extends OperatorDecision {
  /** An id or an e-mail. */
  readonly user: string;
}

/** All that is stored about a person, by the name of the table. */
interface SubjectExport {
  /** ISO 8601. */
  readonly exportedAt: string;
  readonly subject: unknown;
}

/**
 * Exports all that is stored about a user, without secrets.
 * @throws OpError when there is no such user, or the reason or the operator is missing.
 */
export const exportSubject: Op<SubjectInput, SubjectExport> = {
  async run(context, { user, reason }, { operator }) {
    requireDecision({ reason }, operator);
    const { id } = await findUser(context, user);
    const action = { operator, command: 'subject export', reason: reason.trim() };
    const subject = await recordAction(context, action, async (transaction) => {
      const found = await findSubject(transaction, id);
      const result = found && { ...found, disputes: openDisputes(context, found.disputes) };
      return { result, targets: [`user:${id}`], outcome: 'exported' };
    });
    return { exportedAt: context.clock.now().toISOString(), subject };
  },
};

/**
 * What the person has written about disputes is sealed: the export has it in the clear, unless no
 * key opens it any more.
 */
function openDisputes({ sealer }: Pick<LocalContext, 'sealer'>, disputes: unknown): unknown {
  const rows = disputes as readonly { transaction_id: string; details: string | null }[];
  return rows.map((row) => {
    const { transaction_id: transactionId, details: sealed, ...facts } = row;
    const details = sealed === null ? null : Buffer.from(sealed, 'base64');
    const text = openDetails(sealer, { transactionId, details }) ?? null;
    return Object.assign(facts, { transaction_id: transactionId, details: text });
  });
}

export interface SubjectErased extends Erased {
  readonly id: number;
  readonly endedSession: boolean;
  /** How many payments of other customers may name the person in their description: they stay. */
  readonly describedByOthers: number;
}

/**
 * Erases a person: the user stays under a token, with the payments. Unpaid static codes end.
 * @throws OpError when there is no such user, the user is erased already or has an open payment,
 *   charge or dispute, or the reason or the operator is missing.
 */
export const eraseUser: Op<SubjectInput, SubjectErased> = {
  async run(context, { user, reason }, { operator }) {
    requireDecision({ reason }, operator);
    const { id, email } = await findUser(context, user);
    if (email === erasedEmail(id)) throw new OpError('REFUSED', `user ${id} is erased already`);
    const identity = await findIdentity(context, id);
    if (!identity) throw new OpError('NOT_FOUND', `there is no user ${user}`);
    const values = listValues(identity);
    const words = [identity.name, ...new Set(values.flatMap(spellings))];
    const named = await findNamedByOthers(context, { userId: id, values, words });
    const erasure = {
      userId: id,
      values,
      paidByOthers: named.byKey,
      identities: emailDigests(context, email),
      eventIds: await findEventsNaming(context, [...new Set(values.flatMap(spellings))]),
    };
    const action = { operator, command: 'subject erase', reason: reason.trim() };
    const erased = await recordAction(context, action, async (transaction) => {
      const open = await lockSubject(transaction, id);
      refuseOpen(id, open);
      for (const code of open.staticCodes) await endStaticCode(transaction, code);
      const endedSession = (await endActiveSession(transaction, { user: id })) !== null;
      const removed = await eraseSubject(transaction, erasure);
      const result = { id, endedSession, describedByOthers: named.inDescription, ...removed };
      return { result, targets: [`user:${id}`], outcome: 'erased' };
    });
    context.log.warn({ userId: id, operator }, 'an operator erased a user');
    return erased;
  },
};

const maxShown = 5;

function refuseOpen(userId: number, { payments, disputes }: OpenOfSubject): void {
  const open = [
    ...listOpen('payments or charges', payments, 'resolve them with `ponte pix resolve`'),
    ...listOpen('disputes', disputes, 'have the customer withdraw them'),
  ];
  if (open.length > 0) throw new OpError('REFUSED', `user ${userId} has ${open.join('; and ')}`);
}

function listOpen(what: string, ids: readonly string[], otherwise: string): string[] {
  if (ids.length === 0) return [];
  const more = ids.length > maxShown ? ` and ${ids.length - maxShown} more` : '';
  const which = ids.slice(0, maxShown).join(', ');
  return [`open ${what} (${which}${more}): wait until they have ended, or ${otherwise}`];
}

/** Ends a code that nobody has paid: what is paid by it later is no longer attributed. */
async function endStaticCode(transaction: LocalContext, id: string): Promise<void> {
  await moveTransaction(transaction, id, {
    from: ['ACCEPTED'],
    to: 'SETTLED',
    status: 'FAILED',
    failureCode: chargeExpired,
    timeline: [{ phase: 'SETTLED', note: ownerErasedNote }],
  });
}

function listValues(identity: SubjectIdentity): string[] {
  const { email, document, phone, accountDocument } = identity;
  const values = [email, email.toLowerCase(), document, phone, accountDocument];
  return [...values.flatMap((value) => value ?? []), ...identity.pixKeys];
}

/** How a provider may write a value. */
function spellings(value: string): string[] {
  const cpf = value.replace(/^(\d{3})(\d{3})(\d{3})(\d{2})$/, '$1.$2.$3-$4');
  const cnpj = value.replace(/^(\w{2})(\w{3})(\w{3})(\w{4})(\d{2})$/, '$1.$2.$3/$4-$5');
  const phone = value.replace(/^\+(?:55)?/, '');
  return [value, cpf, cnpj, phone];
}
