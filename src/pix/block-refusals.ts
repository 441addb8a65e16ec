/**
 * The refusals of orders that may not be made now: in a pause, after a loss of commits, and of a
 * code that another send pays.
 */
import type { PixOutcome } from '../domain/pix.ts';
import { AppError, type Text } from '../errors.ts';
import type { CodeHolder } from '../ledger/code-holder-repository.ts';
import type { OrderRefusal } from './rule-refusal.ts';
import type { OrderBlock } from '../ledger/block.ts';

/** In seconds: an operator ends a pause. */
const pausedRetryAfter = '60';

/** The provider's statement could not be read; it is read again with the next request. */
const uncheckedRetryAfter = '30';

/** @param outcome of the send that has the key; absent for a request that sends nothing. */
export function pausedRefusal(outcome?: PixOutcome): AppError {
  const headers = { 'Retry-After': pausedRetryAfter };
  return new AppError('PIX_PAUSED', { headers, ...(outcome && { order: { outcome } }) });
}

/** The refusal of a user whose statement could not be read since commits were lost. */
export function uncheckedRefusal(): AppError {
  const headers = { 'Retry-After': uncheckedRetryAfter };
  return new AppError('PIX_UNCHECKED', { headers, order: { outcome: 'unknown' } });
}

/** The refusal to close a key: an order with it may have been made, and its commit lost. */
export function unsureRefusal(isPaused: boolean): AppError {
  const retryAfter = isPaused ? pausedRetryAfter : uncheckedRetryAfter;
  return new AppError(isPaused ? 'PIX_PAUSED' : 'PIX_UNCHECKED', {
    headers: { 'Retry-After': retryAfter },
    order: { outcome: 'unknown', doubt: 'lost_commits' },
  });
}

const unaccounted: Text = {
  en: 'A payment of this amount may have been made already. Check your statement, and contact us.',
  pt: 'Um pagamento neste valor pode já ter sido feito. Confira seu extrato e fale com o atendimento.',
};

/**
 * The refusal of a blocked order whose key has no stored payment. The outcome is unknown: a payment
 * with the key may have been made, and its record lost.
 */
export function blockedRefusal(block: Exclude<OrderBlock, 'unread'>): AppError {
  switch (block) {
    case 'paused':
      return pausedRefusal('unknown');
    case 'unaccounted':
      return new AppError('VALIDATION_FAILED', {
        fields: { amount: [unaccounted] },
        order: { outcome: 'unknown', doubt: 'lost_commits' },
      });
  }
}

const paidCode: Readonly<Record<CodeHolder, Text>> = {
  PROCESSING: {
    en: 'You are already paying this code. Wait for the result of that payment.',
    pt: 'Você já está pagando este código. Aguarde o resultado desse pagamento.',
  },
  COMPLETED: {
    en: 'You have already paid this code.',
    pt: 'Você já pagou este código.',
  },
  PERHAPS: {
    en: 'You may have paid this code already. Check your statement, and read the code again later.',
    pt: 'Você pode já ter pago este código. Confira seu extrato e leia o código de novo mais tarde.',
  },
};

const failureOfPaidCode: Readonly<Record<CodeHolder, string | null>> = {
  PROCESSING: 'CODE_BEING_PAID',
  COMPLETED: 'CODE_PAID',
  // It may be the payment of this key.
  PERHAPS: null,
};

/** The refusal of a second send of a code: a charge is paid once, unless the first send fails. */
export function refusePaidCode(holder: CodeHolder): OrderRefusal {
  const failureCode = failureOfPaidCode[holder];
  const error = new AppError('VALIDATION_FAILED', {
    fields: { copy_paste: [paidCode[holder]] },
    ...(failureCode === null && { order: { outcome: 'unknown', doubt: 'lost_commits' } }),
  });
  return { error, failureCode };
}
