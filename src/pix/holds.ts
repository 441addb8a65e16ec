/**
 * The refusals of orders that may not be made now: in a pause, after a loss of commits, and of a
 * code that another send pays.
 */
import type { PixOutcome } from '../domain/pix.ts';
import { AppError, type Text } from '../errors.ts';
import type { CodeHolder } from './code-holder-repository.ts';
import type { OrderHold } from './pause-repository.ts';

/** An operator ends a pause, in seconds. */
const pausedRetryAfter = '60';

/** The provider's statement could not be read; it is read again with the next request. */
const uncheckedRetryAfter = '30';

/** @param outcome of the send that has the key; absent for a request that sends nothing. */
export function pausedRefusal(outcome?: PixOutcome): AppError {
  return new AppError('PIX_PAUSED', { headers: buildHeaders(pausedRetryAfter, outcome) });
}

/** The refusal of a user whose statement could not be read since commits were lost. */
export function uncheckedRefusal(): AppError {
  return new AppError('PIX_UNCHECKED', { headers: buildHeaders(uncheckedRetryAfter, 'unknown') });
}

function buildHeaders(retryAfter: string, outcome?: PixOutcome): Record<string, string> {
  return { 'Retry-After': retryAfter, ...(outcome && { 'Pix-Outcome': outcome }) };
}

const unaccounted: Text = {
  en: 'A payment of this amount may have been made already. Check your statement, and contact us.',
  pt: 'Um pagamento neste valor pode já ter sido feito. Confira seu extrato e fale com o atendimento.',
};

/**
 * The refusal of an order that is held, and whose key no stored payment has. The outcome is
 * unknown: a payment with the key may have been made, and its record lost.
 */
export function heldRefusal(hold: Exclude<OrderHold, 'unread'>): AppError {
  switch (hold) {
    case 'paused':
      return pausedRefusal('unknown');
    case 'unaccounted':
      return new AppError('VALIDATION_FAILED', {
        fields: { amount: [unaccounted] },
        headers: { 'Pix-Outcome': 'unknown' },
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

/**
 * The refusal of a second send of a code: a charge is paid once, unless the first send fails. Until
 * that is known the outcome is unknown: the same request may pass later.
 */
export function refusePaidCode(holder: CodeHolder): AppError {
  return new AppError('VALIDATION_FAILED', {
    fields: { copy_paste: [paidCode[holder]] },
    ...(holder !== 'COMPLETED' && { headers: { 'Pix-Outcome': 'unknown' } }),
  });
}
