/** What an app imports. */
export { PonteClient, type ClientOptions, type PayOptions, type Session } from './client.ts';
export type { PayResult, StoredPayment } from './payment.ts';
export type { Answer } from './request.ts';
export { readSendAnswer, type Refusal, type SendStep } from './send-answer.ts';
export type { Storage } from './stored-payments.ts';
