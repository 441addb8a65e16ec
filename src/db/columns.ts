/**
 * The columns of every table. Generated from src/db/entities by `npm run docs`; do not edit.
 * From them `rows.ts` makes select lists and the types of rows and of parameters.
 */
import type { AccountStatus } from '../domain/account.ts';
import type { Address } from '../domain/person.ts';
import type {
  ApplicationStatus,
  ElectronicValidation,
  KycStatus,
  Proposal,
  Step,
} from '../domain/onboarding.ts';
import type {
  BlockedOrders,
  DifferenceKind,
  UnreadBecause,
  closures,
} from '../domain/reconciliation.ts';
import type { DisputeSituation, DisputeStatus } from '../domain/dispute.ts';
import type { EarlierLimits } from '../domain/earlier-limits.ts';
import type { NightHour, StoredByPayee } from '../domain/spending-limits.ts';
import type { PixOutcome, PixPhase, PixStatus, PixType } from '../domain/pix.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import type { WebhookRefusal } from '../domain/webhook-refusal.ts';

/** The SQL types of the columns, by their names in TypeScript. */
export const columns = {
  accounts: {
    id: 'int',
    userId: 'int',
    provider: 'text',
    agency: 'text null',
    accountNumber: 'text null',
    document: 'text null',
    status: 'text',
    providerCompanyId: 'text null',
    providerClientToken: 'text null',
    pixKeys: 'text[] null',
    pixKeysVersion: 'bigint null',
    balance: 'numeric null',
    balanceReadAt: 'timestamptz null',
    lossRead: 'int',
    blockedBy: 'bigint null',
    renumberedAt: 'timestamptz null',
    createdAt: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  app_events: {
    id: 'text',
    type: 'text',
    userId: 'int',
    transactionId: 'uuid null',
    operation: 'text null',
    status: 'text',
    at: 'timestamptz',
    deliveredAt: 'timestamptz null',
  },
  banking_sessions: {
    id: 'uuid',
    userId: 'int',
    status: 'text',
    sealedToken: 'bytea null',
    tokenExpiresAt: 'timestamptz null',
    createdAt: 'timestamptz',
    renewedAt: 'timestamptz',
    endedAt: 'timestamptz null',
    voidedAt: 'timestamptz null',
  },
  jobs: {
    id: 'bigint',
    kind: 'text',
    payload: 'jsonb',
    uniqueKey: 'text null',
    status: 'text',
    runAt: 'timestamptz',
    attempts: 'int',
    leasedUntil: 'timestamptz null',
    leasedBy: 'text null',
    wanted: 'boolean',
    lastError: 'text null',
    createdAt: 'timestamptz',
    finishedAt: 'timestamptz null',
  },
  login_addresses: {
    userId: 'int',
    addressDigest: 'bytea',
    lastLoginAt: 'timestamptz',
  },
  onboarding_applications: {
    id: 'uuid',
    userId: 'int',
    personType: 'text',
    status: 'text',
    kycStatus: 'text null',
    steps: 'jsonb',
    address: 'jsonb null',
    proposal: 'jsonb null',
    validation: 'jsonb null',
    validationFailures: 'int',
    validationLockedUntil: 'timestamptz null',
    sealedCode: 'bytea null',
    pessoaFisicaId: 'text null',
    clientToken: 'text null',
    agency: 'text null',
    accountNumber: 'text null',
    provaVidaSessionId: 'text null',
    provaVidaUrl: 'text null',
    contaBancariaCriada: 'boolean',
    createdAt: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  onboarding_document_chunks: {
    documentId: 'uuid',
    place: 'int',
    sealedContent: 'bytea',
  },
  onboarding_documents: {
    id: 'uuid',
    applicationId: 'uuid',
    status: 'text',
    tipoDocumento: 'int null',
    contentType: 'text null',
    sizeBytes: 'int null',
    chunkCount: 'int null',
    contentHash: 'bytea null',
    createdAt: 'timestamptz',
    storedAt: 'timestamptz null',
    forwardedAt: 'timestamptz null',
  },
  operator_actions: {
    id: 'bigint',
    at: 'timestamptz',
    operator: 'text',
    command: 'text',
    target: 'text',
    reason: 'text null',
    outcome: 'text',
    databaseUser: 'text null',
  },
  pix_disputes: {
    transactionId: 'uuid',
    userId: 'int',
    status: 'text',
    situation: 'text null',
    details: 'bytea null',
    mayBeDone: 'boolean',
    claimedUntil: 'timestamptz null',
    withdrawalRequestedAt: 'timestamptz null',
    requestedAt: 'timestamptz',
    openedAt: 'timestamptz null',
    endedAt: 'timestamptz null',
    updatedAt: 'timestamptz',
  },
  pix_limits: {
    userId: 'int',
    version: 'int',
    day: 'numeric null',
    dayNext: 'numeric null',
    dayNextAt: 'timestamptz null',
    night: 'numeric null',
    nightNext: 'numeric null',
    nightNextAt: 'timestamptz null',
    ownDay: 'numeric null',
    ownDayNext: 'numeric null',
    ownDayNextAt: 'timestamptz null',
    ownNight: 'numeric null',
    ownNightNext: 'numeric null',
    ownNightNextAt: 'timestamptz null',
    ownByPayee: 'jsonb null',
    ownEarlier: 'jsonb null',
    nightHour: 'int',
    nightHourNext: 'int',
    nightHourNextAt: 'timestamptz null',
  },
  pix_open: {
    transactionId: 'uuid',
    hasCode: 'boolean',
    expiresAt: 'timestamptz null',
  },
  pix_pauses: {
    id: 'int',
    beganAt: 'timestamptz',
    beganBy: 'text',
    reason: 'text',
    lostSince: 'timestamptz null',
    endedAt: 'timestamptz null',
    endedBy: 'text null',
  },
  pix_timeline: {
    transactionId: 'uuid',
    id: 'bigint',
    phase: 'text',
    at: 'timestamptz',
    attempt: 'int null',
    providerStatus: 'text null',
    httpStatus: 'int null',
    providerCode: 'text null',
    eventId: 'uuid null',
    providerTxid: 'text null',
    note: 'text null',
  },
  pix_transactions: {
    id: 'uuid',
    userId: 'int',
    operation: 'text',
    idempotencyKey: 'text null',
    fingerprint: 'bytea null',
    codeDigest: 'bytea null',
    codePayeeDigest: 'bytea null',
    codeKeyDigest: 'bytea null',
    status: 'text',
    phase: 'text',
    outcome: 'text null',
    failureCode: 'text null',
    amount: 'numeric null',
    pixKey: 'text null',
    payee: 'jsonb null',
    payeeClass: 'text null',
    description: 'text null',
    endToEnd: 'text null',
    transactionIdentification: 'text null',
    providerTxid: 'text null',
    receivedTxid: 'text null',
    qrCode: 'text null',
    copyPaste: 'text null',
    expiresAt: 'timestamptz null',
    originalId: 'uuid null',
    refundedAmount: 'numeric null',
    refundingAmount: 'numeric null',
    claimedUntil: 'timestamptz null',
    createdAt: 'timestamptz',
    updatedAt: 'timestamptz',
    settledAt: 'timestamptz null',
    correctedAt: 'timestamptz null',
    overruledAt: 'timestamptz null',
    reachedPayee: 'boolean null',
    heldAt: 'timestamptz null',
    paidAgainBy: 'uuid null',
    resumableUntil: 'timestamptz null',
  },
  reconciliation_differences: {
    id: 'bigint',
    day: 'date',
    userId: 'int',
    kind: 'text',
    reason: 'text',
    subject: 'text',
    transactionId: 'uuid null',
    endToEnd: 'text null',
    amount: 'numeric null',
    storedAmount: 'numeric null',
    foundAt: 'timestamptz',
    seenAt: 'timestamptz',
    closedAt: 'timestamptz null',
    closedAs: 'text null',
    blocks: 'text null',
  },
  reconciliations: {
    day: 'date',
    userId: 'int',
    state: 'text',
    reason: 'text null',
    triedAt: 'timestamptz',
    readAt: 'timestamptz null',
    lines: 'int',
    settled: 'int',
    differences: 'int',
  },
  security_events: {
    id: 'bigint',
    at: 'timestamptz',
    kind: 'text',
    userId: 'int null',
    identity: 'text',
    address: 'text null',
    hour: 'timestamptz null',
    times: 'int',
  },
  throttle_counters: {
    key: 'text',
    windowStartedAt: 'timestamptz',
    attempts: 'int',
    expiresAt: 'timestamptz',
  },
  users: {
    id: 'int',
    name: 'text',
    email: 'text',
    document: 'text null',
    personType: 'text null',
    phone: 'text null',
    passwordHash: 'text',
    status: 'text',
    createdAt: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  webhook_events: {
    id: 'uuid',
    payloadHash: 'bytea',
    payload: 'bytea null',
    status: 'text',
    attention: 'text null',
    results: 'jsonb null',
    receivedAt: 'timestamptz',
    processedAt: 'timestamptz null',
  },
  webhook_queue: {
    eventId: 'uuid',
    dueAt: 'timestamptz',
    waitingSince: 'timestamptz',
    attempts: 'int',
    waits: 'int',
    failures: 'int',
    lastError: 'text null',
    seen: 'text null',
  },
  webhook_refusals: {
    minute: 'timestamptz',
    reason: 'text',
    refusals: 'int',
    lastAt: 'timestamptz',
  },
  webhook_waits: {
    idValue: 'text',
    eventId: 'uuid',
  },
} as const;

/** The types of values where the SQL type does not say which: words and JSON. */
export interface OwnTypes {
  readonly accounts: {
    readonly status: AccountStatus;
  };
  readonly banking_sessions: {
    readonly status: 'ACTIVE' | 'ENDED' | 'EXPIRED';
  };
  readonly jobs: {
    readonly payload: Readonly<Record<string, unknown>>;
    readonly status: 'queued' | 'running' | 'done' | 'dead';
  };
  readonly onboarding_applications: {
    readonly status: ApplicationStatus;
    readonly kycStatus: KycStatus;
    readonly steps: readonly Step[];
    readonly address: Address;
    readonly proposal: Proposal;
    readonly validation: ElectronicValidation;
  };
  readonly pix_disputes: {
    readonly status: DisputeStatus;
    readonly situation: DisputeSituation;
  };
  readonly pix_limits: {
    readonly ownByPayee: StoredByPayee;
    readonly ownEarlier: readonly EarlierLimits[];
    readonly nightHour: NightHour;
    readonly nightHourNext: NightHour;
  };
  readonly pix_transactions: {
    readonly operation: PixType;
    readonly status: PixStatus;
    readonly phase: PixPhase;
    readonly outcome: PixOutcome;
    readonly payee: ShownOwner;
  };
  readonly reconciliation_differences: {
    readonly kind: DifferenceKind;
    readonly closedAs: (typeof closures)[number];
    readonly blocks: BlockedOrders;
  };
  readonly reconciliations: {
    readonly state: 'READ' | 'UNREAD';
    readonly reason: UnreadBecause;
  };
  readonly security_events: {
    readonly kind: SecurityEventKind;
  };
  readonly users: {
    readonly personType: 'PF' | 'PJ';
    readonly status: 'ACTIVE' | 'DISABLED';
  };
  readonly webhook_events: {
    readonly results: unknown;
  };
  readonly webhook_refusals: {
    readonly reason: WebhookRefusal;
  };
}
