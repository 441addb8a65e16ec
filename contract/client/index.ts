/** What an app imports. */
export { PonteClient, type ClientOptions, type PayOptions, type Session } from './client.ts';
export type { Clock } from './clock.ts';
export type { PayResult, StoredPayment } from './payment.ts';
export type { OperationRequest, OperationResponse, ServiceResponse } from './request.ts';
export { readSendResponse, type Refusal, type SendStep } from './send-response.ts';
export { UnreadablePaymentsError, type Locks, type Storage } from './stored-payments.ts';
