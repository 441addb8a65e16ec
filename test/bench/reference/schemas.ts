/** The requests and replies of the reference server, as Fastify schemas. */

const transaction = {
  type: 'object',
  properties: {
    transaction_id: { type: 'string' },
    status: { type: 'string' },
    end_to_end: { type: 'string' },
    qr_code: { type: 'string' },
    copy_paste: { type: 'string' },
  },
} as const;

export const sendSchema = {
  headers: {
    type: 'object',
    required: ['idempotency-key'],
    properties: { 'idempotency-key': { type: 'string', pattern: '^[!-~]{1,128}$' } },
  },
  body: {
    type: 'object',
    required: ['pix_key', 'amount'],
    properties: {
      pix_key: { type: 'string', pattern: '\\S', maxLength: 255 },
      amount: { type: 'number', minimum: 0.01, maximum: 999_999_999.99 },
      description: { type: 'string', maxLength: 512 },
    },
  },
  response: { 200: transaction },
} as const;

export const findSchema = {
  params: {
    type: 'object',
    properties: { transactionId: { type: 'string', format: 'uuid' } },
  },
  response: { 200: transaction },
} as const;

export const loginSchema = {
  body: {
    type: 'object',
    required: ['email', 'password'],
    properties: {
      email: { type: 'string', maxLength: 254 },
      password: { type: 'string', minLength: 1, maxLength: 128 },
    },
  },
  response: {
    200: {
      type: 'object',
      properties: { access_token: { type: 'string' }, token_type: { type: 'string' } },
    },
  },
} as const;

export const balanceSchema = {
  response: {
    200: {
      type: 'object',
      properties: { balance: { type: 'number' }, source: { type: 'string' } },
    },
  },
} as const;

export const webhookSchema = {
  response: {
    200: {
      type: 'object',
      properties: {
        message: { type: 'string' },
        event_id: { type: 'string' },
        duplicate: { type: 'boolean' },
      },
    },
  },
} as const;
