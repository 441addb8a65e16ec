/** Every table, for the service and for the migration tool. */
import { Account } from './account.ts';
import { AppEvent } from './app-event.ts';
import { BankingSession } from './banking-session.ts';
import { Job } from './job.ts';
import { LoginAddress } from './login-address.ts';
import { OnboardingApplication } from './onboarding-application.ts';
import { OnboardingDocumentChunk } from './onboarding-document-chunk.ts';
import { OnboardingDocument } from './onboarding-document.ts';
import { OperatorAction } from './operator-action.ts';
import { PixDispute } from './pix-dispute.ts';
import { PixLimit } from './pix-limit.ts';
import { PixOpen } from './pix-open.ts';
import { PixPause } from './pix-pause.ts';
import { PixTimeline } from './pix-timeline.ts';
import { PixTransaction } from './pix-transaction.ts';
import { Reconciliation, ReconciliationDifference } from './reconciliation.ts';
import { SecurityEvent } from './security-event.ts';
import { ThrottleCounter } from './throttle-counter.ts';
import { User } from './user.ts';
import { WebhookEvent } from './webhook-event.ts';
import { WebhookQueue } from './webhook-queue.ts';
import { WebhookRefusalCount } from './webhook-refusal.ts';
import { WebhookWait } from './webhook-wait.ts';

export const entities = [
  User,
  Account,
  BankingSession,
  LoginAddress,
  PixTransaction,
  PixTimeline,
  PixOpen,
  PixDispute,
  PixLimit,
  PixPause,
  OnboardingApplication,
  OnboardingDocument,
  OnboardingDocumentChunk,
  WebhookEvent,
  WebhookQueue,
  WebhookWait,
  WebhookRefusalCount,
  Job,
  ThrottleCounter,
  OperatorAction,
  SecurityEvent,
  AppEvent,
  Reconciliation,
  ReconciliationDifference,
];

export {
  Account,
  AppEvent,
  BankingSession,
  Job,
  LoginAddress,
  OnboardingApplication,
  OnboardingDocument,
  OnboardingDocumentChunk,
  OperatorAction,
  PixLimit,
  PixTimeline,
  PixTransaction,
  Reconciliation,
  ReconciliationDifference,
  SecurityEvent,
  ThrottleCounter,
  User,
  WebhookEvent,
  WebhookRefusalCount,
  WebhookWait,
};
