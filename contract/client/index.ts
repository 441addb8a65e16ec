/** What an app imports. */
export { PonteClient, type ClientOptions, type PayOptions, type Session } from './client.ts';
export type { PayResult } from './pay.ts';
export type { Answer } from './request.ts';
export { readSendAnswer, type Refusal, type SendStep } from './send-answer.ts';
export type { Storage, StoredPayment } from './stored-payments.ts';
