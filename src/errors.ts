/**
 * The error catalogue: every error reply of the service, with its status and messages. Code
 * throws an {@link AppError} with a code of this catalogue, and the HTTP layer converts it to a
 * reply.
 */
import type { PixStatus } from '../contract/types.ts';

/** A message for people, in the two languages of the service. */
export interface Text {
  readonly en: string;
  readonly pt: string;
}

export type Locale = keyof Text;

/** Validation errors by the path of the field, such as `additional_data.0.name`. */
export type FieldErrors = Readonly<Record<string, readonly Text[]>>;

/** A stored order, as far as the next step depends on it. */
export interface OrderState {
  readonly status: PixStatus;
  /** Of a FAILED order. */
  readonly failureCode: string | null;
}

/** Why only the customer can tell what to do. */
export type OrderDoubt =
  /** The key belongs to an order of another request. */
  | 'other_request'
  /** An order may have been made, and its commit lost. */
  | 'lost_commits'
  /** The user has no such transaction. */
  | 'no_transaction';

/** What a refusal says of an order; its HTTP status is that of the error. */
export interface RefusedOrder {
  /** What is known of the payment that has the key: `Pix-Outcome`. */
  readonly outcome: 'accepted' | 'unknown' | 'not_sent' | 'rejected';
  /** The stored order that has the key; absent: none has it, or it was not read. */
  readonly stored?: OrderState & { readonly id: string };
  readonly doubt?: OrderDoubt;
}

interface CatalogueEntry {
  readonly status: number;
  readonly text: Text;
  /** Whether the body contains the code: in the contract, only for 501 and 502. */
  readonly codeInBody?: true;
}

const catalogue = {
  BAD_REQUEST: {
    status: 400,
    text: {
      en: 'The request could not be read.',
      pt: 'Não foi possível ler a requisição.',
    },
  },
  MALFORMED_JSON: {
    status: 400,
    text: {
      en: 'The body is not well-formed JSON.',
      pt: 'O corpo da requisição não é um JSON válido.',
    },
  },
  UNAUTHENTICATED: {
    status: 401,
    text: {
      en: 'Your session is invalid or has expired. Log in again.',
      pt: 'Sua sessão é inválida ou expirou. Entre novamente.',
    },
  },
  WEBHOOK_SECRET_REFUSED: {
    status: 401,
    text: {
      en: 'The webhook secret is missing or wrong.',
      pt: 'O segredo do webhook está ausente ou incorreto.',
    },
  },
  NOT_FOUND: {
    status: 404,
    text: { en: 'Not found.', pt: 'Não encontrado.' },
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    text: {
      en: 'This method is not allowed.',
      pt: 'Este método não é permitido.',
    },
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    text: { en: 'The body is too large.', pt: 'O corpo da requisição é grande demais.' },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    text: {
      en: 'This media type is not supported.',
      pt: 'Este tipo de conteúdo não é aceito.',
    },
  },
  REQUEST_TIMEOUT: {
    status: 408,
    text: {
      en: 'The request took too long to arrive. Try again.',
      pt: 'A requisição demorou demais para chegar. Tente novamente.',
    },
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    text: {
      en: 'The headers are too large.',
      pt: 'Os cabeçalhos são grandes demais.',
    },
  },
  HOST_REFUSED: {
    status: 421,
    text: {
      en: 'A local service accepts only localhost, IP addresses and ALLOWED_HOSTS as its host.',
      pt: 'Um serviço local aceita como host apenas localhost, endereços IP e ALLOWED_HOSTS.',
    },
  },
  VALIDATION_FAILED: {
    status: 422,
    text: {
      en: 'Some fields are missing or invalid.',
      pt: 'Há campos ausentes ou inválidos.',
    },
  },
  THROTTLED: {
    status: 429,
    text: {
      en: 'Too many attempts. Wait a moment and try again.',
      pt: 'Muitas tentativas. Aguarde um momento e tente novamente.',
    },
  },
  INTERNAL: {
    status: 500,
    text: {
      en: 'Something went wrong on our side.',
      pt: 'Algo deu errado do nosso lado.',
    },
  },
  NOT_IMPLEMENTED: {
    status: 501,
    codeInBody: true,
    text: {
      en: 'This service is not available yet.',
      pt: 'Este serviço ainda não está disponível.',
    },
  },
  NOT_AVAILABLE: {
    status: 501,
    codeInBody: true,
    text: {
      en: 'This service is not available at this bank.',
      pt: 'Este serviço não está disponível neste banco.',
    },
  },
  PROVIDER_UNAVAILABLE: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'The bank could not be reached and nothing was done. You may try again.',
      pt: 'Não foi possível acessar o banco e nada foi feito. Você pode tentar novamente.',
    },
  },
  PROVIDER_TIMEOUT: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'The bank did not answer in time.',
      pt: 'O banco não respondeu a tempo.',
    },
  },
  PROVIDER_REJECTED: {
    status: 502,
    codeInBody: true,
    text: { en: 'The bank refused the operation.', pt: 'O banco recusou a operação.' },
  },
  PIX_KEY_NOT_FOUND: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'No account was found for this Pix key.',
      pt: 'Nenhuma conta foi encontrada para esta chave Pix.',
    },
  },
  PIX_KEY_LIMIT: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'The account has as many Pix keys as it may have. Delete one to create another.',
      pt: 'A conta já tem o máximo de chaves Pix. Exclua uma para criar outra.',
    },
  },
  PIX_KEY_TAKEN: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'This Pix key is already registered, here or at another bank.',
      pt: 'Esta chave Pix já está cadastrada, aqui ou em outro banco.',
    },
  },
  INSUFFICIENT_FUNDS: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'The balance is insufficient for this payment.',
      pt: 'Saldo insuficiente para este pagamento.',
    },
  },
  PROVIDER_RATE_LIMITED: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'The bank is limiting these requests. Try again later.',
      pt: 'O banco está limitando estas consultas. Tente novamente mais tarde.',
    },
  },
  PROVIDER_INVALID_RESPONSE: {
    status: 502,
    codeInBody: true,
    text: {
      en: 'The bank sent an invalid response.',
      pt: 'O banco enviou uma resposta inválida.',
    },
  },
  SHUTTING_DOWN: {
    status: 503,
    text: {
      en: 'The service is restarting. Try again in a moment.',
      pt: 'O serviço está reiniciando. Tente novamente em instantes.',
    },
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    text: {
      en: 'The service is temporarily unavailable. Try again in a moment.',
      pt: 'O serviço está temporariamente indisponível. Tente novamente em instantes.',
    },
  },
  BALANCE_UNKNOWN: {
    status: 503,
    text: {
      en: 'The balance is not available right now. Try again in a moment.',
      pt: 'O saldo não está disponível no momento. Tente novamente em instantes.',
    },
  },
  PIX_PAUSED: {
    status: 503,
    text: {
      en: 'Pix payments are paused. Try again later.',
      pt: 'Os pagamentos Pix estão pausados. Tente novamente mais tarde.',
    },
  },
  PIX_UNCHECKED: {
    status: 503,
    text: {
      en: 'Your last payments are being checked. Try again in a moment.',
      pt: 'Seus últimos pagamentos estão em conferência. Tente novamente em instantes.',
    },
  },
  BUSY: {
    status: 503,
    text: {
      en: 'The service is busy. Try again in a moment.',
      pt: 'O serviço está ocupado. Tente novamente em instantes.',
    },
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof catalogue;

/** Every code, in the order of the table in contract/README.md. */
export const errorCodes = Object.keys(catalogue) as ErrorCode[];

/** The codes of a 502: the result of a call to the provider. */
export const providerErrorCodes = [
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_TIMEOUT',
  'PROVIDER_REJECTED',
  'PIX_KEY_NOT_FOUND',
  'PIX_KEY_LIMIT',
  'PIX_KEY_TAKEN',
  'INSUFFICIENT_FUNDS',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_INVALID_RESPONSE',
] as const satisfies ErrorCode[];

export type ProviderErrorCode = (typeof providerErrorCodes)[number];

export interface AppErrorOptions {
  /** The errors of a 422, by field. */
  readonly fields?: FieldErrors;
  /** Replaces the message of the catalogue. */
  readonly text?: Text;
  /** What the refusal of an order says of it. */
  readonly order?: RefusedOrder;
  /** Headers of the reply, such as `Retry-After` (seconds) or `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The cause, which is logged and never sent. */
  readonly cause?: unknown;
}

/** An error with a code of the catalogue. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: FieldErrors | undefined;
  readonly text: Text;
  readonly order: RefusedOrder | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const text = options.text ?? onlyFault(options.fields) ?? catalogue[code].text;
    super(text.en, { cause: options.cause });
    this.text = text;
    this.name = 'AppError';
    this.code = code;
    this.fields = options.fields;
    this.order = options.order;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return catalogue[this.code].status;
  }
}

/** The sentence of the only fault of a request; undefined where there are more. */
function onlyFault(fields: FieldErrors = {}): Text | undefined {
  const [text, ...more] = Object.values(fields).flat();
  return more.length === 0 ? text : undefined;
}

/** Creates a 422 for one field. */
export function invalidField(path: string, text: Text): AppError {
  return new AppError('VALIDATION_FAILED', { fields: { [path]: [text] } });
}

/** The body of an error: `Message`, `CodedError` or `ValidationError` of the contract. */
export interface ErrorBody {
  readonly message: string;
  readonly code?: ErrorCode;
  /** The stored order that a refusal is about. */
  readonly transaction_id?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** Creates the body of an error in one language. */
export function errorBody(error: AppError, locale: Locale): ErrorBody {
  const entry: CatalogueEntry = catalogue[error.code];
  const message = error.text[locale];
  const id = error.order?.stored?.id;
  const order = id !== undefined && { transaction_id: id };
  if (error.code === 'VALIDATION_FAILED') {
    return { message, ...order, errors: fieldMessages(error.fields ?? {}, locale) };
  }
  return entry.codeInBody ? { code: error.code, message, ...order } : { message };
}

/** The largest size of the field errors as JSON, so that the whole body is at most 16 KiB. */
const maxErrorsBytes = 16 * 1024 - 256;

/** The messages by field, as many as fit. */
function fieldMessages(fields: FieldErrors, locale: Locale): Record<string, string[]> {
  const fitting: [path: string, messages: string[]][] = [];
  let bytes = 0;
  for (const [path, errors] of Object.entries(fields)) {
    const entry: [string, string[]] = [path, errors.map((error) => error[locale])];
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > maxErrorsBytes) break;
    fitting.push(entry);
  }
  return Object.fromEntries(fitting);
}
