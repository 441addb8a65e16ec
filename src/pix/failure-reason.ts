/** Why a transaction has failed: a published code and a sentence for a person. */
import { AppError, providerErrorCodes, type Text } from '../errors.ts';

export interface FailureReason {
  readonly code: string;
  readonly text: Text;
}

/** The failure code of an order that the customer has given up. */
export const cancelled = 'CANCELLED';

/** The reasons that have no entry in the error catalogue; four characters are SPI's. */
const texts: Readonly<Record<string, Text>> = {
  ACCOUNT_NOT_ACTIVE: {
    en: 'The account was not active, and nothing was sent.',
    pt: 'A conta não estava ativa e nada foi enviado.',
  },
  ACCOUNT_INCOMPLETE: {
    en: 'The account was not complete, and nothing was sent.',
    pt: 'A conta não estava completa e nada foi enviado.',
  },
  LIMIT_EXCEEDED: {
    en: 'The amount exceeded your limit, and nothing was sent.',
    pt: 'O valor excedia o seu limite e nada foi enviado.',
  },
  CODE_BEING_PAID: {
    en: 'You were already paying this code, and nothing was sent.',
    pt: 'Você já estava pagando este código e nada foi enviado.',
  },
  CODE_PAID: {
    en: 'The code had been paid already, and nothing was sent.',
    pt: 'O código já tinha sido pago e nada foi enviado.',
  },
  CODE_EXPIRED: {
    en: 'The code had expired, and nothing was sent.',
    pt: 'O código tinha expirado e nada foi enviado.',
  },
  CODE_REMOVED: {
    en: 'The payee had cancelled the code, and nothing was sent.',
    pt: 'Quem receberia cancelou o código e nada foi enviado.',
  },
  LOOK_UP_UNUSABLE: {
    en: 'The look-up could not be used for this payment, and nothing was sent.',
    pt: 'A consulta não valia para este pagamento e nada foi enviado.',
  },
  NOT_RECEIVED: {
    en: 'Only a Pix that you received can be returned, and nothing was sent.',
    pt: 'Só um Pix recebido pode ser devolvido e nada foi enviado.',
  },
  NOT_RECEIVED_YET: {
    en: 'The Pix had not been received yet, and nothing was sent.',
    pt: 'O Pix ainda não tinha sido recebido e nada foi enviado.',
  },
  NOT_IDENTIFIED: {
    en: 'The bank had not reported the id of the Pix that a return needs, and nothing was sent.',
    pt: 'O banco não tinha informado o identificador do Pix, que a devolução exige, e nada foi enviado.',
  },
  RETURN_TOO_LATE: {
    en: 'It was too late to return the Pix, and nothing was sent.',
    pt: 'O prazo para devolver o Pix tinha acabado e nada foi enviado.',
  },
  RETURN_TOO_MUCH: {
    en: 'The amount exceeded what was left to return, and nothing was sent.',
    pt: 'O valor excedia o que restava a devolver e nada foi enviado.',
  },
  PAYEE_CHANGED: {
    en: 'The Pix key may belong to someone else since it was confirmed, and nothing was sent.',
    pt: 'A chave Pix pode ter mudado de dono desde a confirmação e nada foi enviado.',
  },
  CODE_CHANGED: {
    en: 'The code could no longer be paid as it was confirmed, and nothing was sent.',
    pt: 'O código não podia mais ser pago como foi confirmado e nada foi enviado.',
  },
  ABANDONED: {
    en: 'The payment was not continued, and nothing was sent.',
    pt: 'O pagamento não foi continuado e nada foi enviado.',
  },
  EXPIRED_UNEXECUTED: {
    en: 'The bank did not make the payment in time. Check your statement before you pay again.',
    pt: 'O banco não fez o pagamento no prazo. Confira seu extrato antes de pagar de novo.',
  },
  OPERATOR_DECISION: {
    en: 'We recorded that the payment failed. Check your statement before you pay again.',
    pt: 'Registramos que o pagamento falhou. Confira seu extrato antes de pagar de novo.',
  },
  OVERRULED: {
    en: 'We had shown this payment as made, and it was not. Check your statement before you pay again.',
    pt: 'Mostramos este pagamento como feito, mas ele não foi. Confira seu extrato antes de pagar de novo.',
  },
  [cancelled]: {
    en: 'You gave this payment up, and nothing was sent.',
    pt: 'Você desistiu deste pagamento e nada foi enviado.',
  },
  CHARGE_EXPIRED: {
    en: 'The charge expired before it was paid.',
    pt: 'A cobrança expirou antes de ser paga.',
  },
  REVERSED: {
    en: 'The payment was not executed: the bank has put the money back.',
    pt: 'O pagamento não foi executado: o banco estornou o valor.',
  },
  AB03: {
    en: 'The payment took too long and was cancelled.',
    pt: 'O pagamento demorou demais e foi cancelado.',
  },
  AC03: {
    en: "The payee's account does not exist or is not valid.",
    pt: 'A conta de quem recebe não existe ou não é válida.',
  },
  AC06: {
    en: "The payee's account is blocked.",
    pt: 'A conta de quem recebe está bloqueada.',
  },
  AC07: {
    en: "The payee's account is closed.",
    pt: 'A conta de quem recebe está encerrada.',
  },
  AC14: {
    en: "The type of the payee's account is wrong.",
    pt: 'O tipo da conta de quem recebe está incorreto.',
  },
  AG03: {
    en: "The payee's account cannot receive this payment.",
    pt: 'A conta de quem recebe não aceita este pagamento.',
  },
  AM02: {
    en: "The amount is over the limit of the payee's account.",
    pt: 'O valor ultrapassa o limite da conta de quem recebe.',
  },
  BE01: {
    en: 'The CPF or CNPJ is not that of the account holder.',
    pt: 'O CPF ou CNPJ não é o do titular da conta.',
  },
  BE17: {
    en: "The payee's bank refused the QR code.",
    pt: 'O banco de quem recebe recusou o QR Code.',
  },
  DS04: {
    en: "The payee's bank refused the payment.",
    pt: 'O banco de quem recebe recusou o pagamento.',
  },
  FRAD: {
    en: 'The payment was refused because fraud is suspected.',
    pt: 'O pagamento foi recusado por suspeita de fraude.',
  },
  RR04: {
    en: 'The payment was refused for a regulatory reason.',
    pt: 'O pagamento foi recusado por exigência regulatória.',
  },
};

/** The form of SPI's reasons (ISO 20022), such as `AC03`, `DS0G` and `FRAD`. */
const spiReason = /^[A-Z]{2}[0-9A-Z]{2}$/;

/** Every published code, in the order of the table in contract/README.md. */
export const failureCodes: readonly string[] = [...providerErrorCodes, ...Object.keys(texts)];

/**
 * @param stored a published code, or the provider's own reason, which is not shown unless it has
 *   the form of SPI's.
 */
export function failureReason(stored: string | null): FailureReason {
  const code = stored ?? '';
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (text) return { code, text };
  const known = providerErrorCodes.find((one) => one === code) ?? 'PROVIDER_REJECTED';
  return { code: spiReason.test(code) ? code : known, text: new AppError(known).text };
}
