/**
 * The reason of a failed transaction on a receipt: a published code and a sentence for a person.
 */
import { AppError, errorCodes, type Text } from '../errors.ts';

export interface FailureReason {
  readonly code: string;
  readonly text: Text;
}

/** The reasons that have no entry in the error catalogue; four characters are SPI's. */
const texts: Readonly<Record<string, Text>> = {
  ACCOUNT_NOT_ACTIVE: {
    en: 'The account was not active, and nothing was sent.',
    pt: 'A conta não estava ativa e nada foi enviado.',
  },
  PAYEE_CHANGED: {
    en: 'The Pix key may belong to someone else since it was confirmed, and nothing was sent.',
    pt: 'A chave Pix pode ter mudado de dono desde a confirmação e nada foi enviado.',
  },
  CODE_CHANGED: {
    en: 'The code could no longer be paid as it was confirmed, and nothing was sent.',
    pt: 'O código não podia mais ser pago como foi confirmado e nada foi enviado.',
  },
  CHARGE_EXPIRED: {
    en: 'The charge expired before it was paid.',
    pt: 'A cobrança expirou antes de ser paga.',
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

/**
 * @param stored a code of the catalogue, or the provider's own reason, which is not shown unless it
 *   has the form of SPI's.
 */
export function failureReason(stored: string | null): FailureReason {
  const code = stored ?? '';
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (text) return { code, text };
  const known = errorCodes.find((one) => one === code) ?? 'PROVIDER_REJECTED';
  return { code: spiReason.test(code) ? code : known, text: new AppError(known).text };
}
