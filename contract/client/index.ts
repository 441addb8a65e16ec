/** What an app imports. */
export {
  PonteClient,
  type ClientOptions,
  type Clock,
  type PayOptions,
  type Session,
} from './client.ts';
export type { PayResult, StoredPayment } from './payment.ts';
export type { ServiceResponse } from './request.ts';
export { readSendResponse, type Refusal, type SendStep } from './send-response.ts';
export type { Locks, Storage } from './stored-payments.ts';
