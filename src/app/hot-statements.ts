/** The statements that customers and the provider wait for, in the order of their frequency. */
import { sessionStatements } from '../auth/session-repository.ts';
import type { Statement } from '../db/database.ts';
import { moveStatements } from '../ledger/move-repository.ts';
import { paymentStatements } from '../ledger/payment-repository.ts';
import { transactionStatements } from '../ledger/pix-transaction-repository.ts';
import { replayStatements } from '../ledger/replay-repository.ts';
import { reservationStatements } from '../ledger/reservation-repository.ts';
import { limitStatements } from '../ledger/spending-limit-repository.ts';
import { finishWebhookEvent, storeWebhookEvent } from '../settlement/event-repository.ts';
import { findCandidates } from '../ledger/transaction-repository.ts';

/** A connection that is kept open has them prepared (`keepWarm` of the database). */
export const hotStatements: readonly Statement[] = [
  reservationStatements.reserveForSession,
  limitStatements.read,
  reservationStatements.reserveJudged,
  paymentStatements.step,
  sessionStatements.findPrincipal,
  transactionStatements.findView,
  storeWebhookEvent,
  findCandidates,
  finishWebhookEvent,
  reservationStatements.reserve,
  transactionStatements.findTransaction,
  replayStatements.findReplay,
  replayStatements.findOutcomeOfKey,
  moveStatements.move,
];
