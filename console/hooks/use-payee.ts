/**
 * The payee of a payment: found for the typed key or code, and asked for where digits are two keys.
 */
import { useState } from 'react';
import type { DecodedPixCode, PixKeyOwner } from '../../contract/types.ts';
import { readFaults } from '../api.ts';
import { formatAmount, formatBank } from '../state/format.ts';
import type { Faults } from '../state/form.ts';
import { success, writing, type Notice } from '../state/notice.ts';
import type { Facts } from '../state/text.ts';
import { useApp } from './use-app.ts';
import { useCall } from './use-call.ts';
import type { Press } from './use-keys.ts';
import { useQuestion } from './use-question.ts';

/** The payee that the service has found for the typed key or code. */
interface Payee {
  readonly typed: string;
  readonly facts: Facts;
  /** Of a Pix key or a dynamic code: the payment uses this look-up. */
  readonly lookupId?: string;
  /** Whether the payment waits until a person has seen the payee. */
  readonly isHeld: boolean;
}

export interface PayeeOptions {
  readonly key: string;
  readonly code: string;
  /** Takes the key that a person has chosen. */
  setKey(key: string): void;
  refuse(faults: Faults): void;
}

export interface PayeeCheck {
  /** Of what is typed now; null when it was not checked. */
  readonly payee: Payee | null;
  /** The question which key is meant, or the state of the look-up. */
  readonly notice: Notice | null;
  /** Says that the payment waits for the person, who has not seen the payee before. */
  readonly held: Notice | null;
  /** Whether the key may be two keys and was not checked: it is not paid before. */
  readonly isUndecided: boolean;
  /** @param isHeld whether a payment waits for the result. */
  check(options: PayeeOptions, isHeld?: boolean): void;
  forget(): void;
  /** @returns whether a question was open, which the key answers. */
  press(press: Press): boolean;
}

export function usePayee({ key, code }: Pick<PayeeOptions, 'key' | 'code'>): PayeeCheck {
  const { api } = useApp();
  const [known, setKnown] = useState<Payee | null>(null);
  const call = useCall<unknown>();
  const which = useQuestion();
  const payee = known?.typed === (code || key) ? known : null;
  const check = (options: PayeeOptions, isHeld = false): void => {
    call.run(async (signal) => {
      const response = await (options.code
        ? api.call('decodePixCode', { body: { copy_paste: options.code } }, signal)
        : api.call('lookUpPixKey', { body: { pix_key: options.key } }, signal));
      options.refuse(readFaults(response));
      if (response.status !== 200) return;
      const found = { typed: options.code || options.key, ...readPayee(response.body), isHeld };
      if (!isAmbiguous(response.body)) {
        setKnown(found);
        return;
      }
      const { pix_key: digits } = response.body;
      const [cpf, phone] = [formatCpf(digits), `+55${digits}`];
      const agree = (): void => {
        options.setKey(cpf);
        setKnown({ ...found, typed: cpf });
      };
      const decline = (): void => {
        options.setKey(phone);
        check({ ...options, key: phone }, isHeld);
      };
      which.ask(whichText, agree, decline);
    });
  };
  return {
    payee,
    notice: which.notice ?? writing(call, 'Looking the payee up'),
    held: success(payee?.isHeld === true && 'Check the payee, then send again.'),
    isUndecided: code === '' && payee === null && mayBeEither(key),
    check,
    forget: () => setKnown(null),
    press: which.press,
  };
}

const whichText = 'These digits are a CPF and a mobile number. Is the Pix key the CPF?';

/** Eleven digits that may be a CPF and a mobile number: the service knows. */
function mayBeEither(key: string): boolean {
  return /^\d{2}9\d{8}$/.test(key.trim());
}

function isAmbiguous(found: PixKeyOwner | DecodedPixCode): found is PixKeyOwner {
  return 'ambiguous' in found && found.ambiguous === true;
}

/** With its punctuation a CPF cannot be a phone number. */
function formatCpf(digits: string): string {
  return digits.replace(/^(\d{3})(\d{3})(\d{3})(\d\d)$/, '$1.$2.$3-$4');
}

function readPayee(found: PixKeyOwner | DecodedPixCode): Pick<Payee, 'facts' | 'lookupId'> {
  if ('kind' in found) return found.kind === 'static' ? readStaticCode(found) : readCode(found);
  return { facts: ownerFacts(found), lookupId: found.lookup_id };
}

function ownerFacts({ name, document, bank }: NonNullable<DecodedPixCode['payee']>): Facts {
  return [
    ['Payee', name ?? null],
    ['Document', document ?? null],
    ['Institution', bank ? formatBank(bank) : null],
  ];
}

function readStaticCode(code: DecodedPixCode): Pick<Payee, 'facts'> {
  const { payee_name: name, payee_city: city, pix_key: key = null, amount } = code;
  const facts = [
    ['Payee', `${name}, ${city}`],
    ['Pix key', key],
    ['Amount', amount === undefined ? 'chosen by the payer' : formatAmount(amount)],
  ] as const;
  return { facts };
}

/** Only the payee's bank knows who is paid by a dynamic code, and how much. */
function readCode(code: DecodedPixCode): Pick<Payee, 'facts' | 'lookupId'> {
  const { payee_name: name, payee_city: city, payee, unread, lookup_id: lookupId } = code;
  if (payee === undefined || lookupId === undefined) {
    const why = unread === undefined ? '' : ` (${unread})`;
    const facts = [
      ['Payee', `${name}, ${city}`],
      ['Charge', `cannot be read, and not be paid now${why}`],
    ] as const;
    return { facts };
  }
  const { state, amount, amount_changeable: isChangeable, due_date: dueDate = null } = code;
  const facts = [
    ...ownerFacts(payee),
    ['Charge', state === 'PAYABLE' ? (code.description ?? null) : (state ?? null)],
    ['Amount', amount === undefined ? 'chosen by the payer' : formatAmount(amount)],
    ['Changeable', isChangeable === true ? formatBounds(code) : null],
    ['Due', dueDate],
  ] as const;
  return { facts, lookupId };
}

function formatBounds({ minimum_amount: least, maximum_amount: most }: DecodedPixCode): string {
  const from = least === undefined ? '' : ` from ${formatAmount(least)}`;
  const until = most === undefined ? '' : ` up to ${formatAmount(most)}`;
  return `yes${from}${until}`;
}
