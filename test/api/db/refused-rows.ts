/** Rows that the schema refuses, by the name of what refuses them. */
import { newTransactionIdentification } from '../../../src/domain/pix.ts';
import { at, uuid, type Row, type Table } from './rows.ts';

export const charge = () => ({
  operation: 'CHARGE',
  transaction_identification: newTransactionIdentification(),
});
export const received = {
  operation: 'RECEIVED',
  idempotency_key: null,
  fingerprint: null,
  status: 'COMPLETED',
  phase: 'SETTLED',
  settled_at: at,
};
export const ended = { status: 'ENDED', sealed_token: null, ended_at: at };
export const leased = { status: 'running', leased_until: at, leased_by: 'worker' };

const closedKey = {
  status: 'FAILED',
  phase: 'SETTLED',
  outcome: 'not_sent',
  failure_code: 'CANCELLED',
  amount: null,
  settled_at: at,
};

/** Rows that are refused one by one, by the constraint that refuses them. */
export const refusedRows: Readonly<Record<string, { table: Table; changes: readonly Row[] }>> = {
  users_person_type_known: { table: 'users', changes: [{ person_type: 'XX' }] },
  users_status_known: { table: 'users', changes: [{ status: 'GONE' }] },
  accounts_status_known: { table: 'accounts', changes: [{ status: 'OPEN' }] },
  accounts_provider_known: { table: 'accounts', changes: [{ provider: 'bank' }] },
  accounts_balance_dated: {
    table: 'accounts',
    changes: [{ balance: '1.00' }, { balance_read_at: at }],
  },
  accounts_user_id_foreign: { table: 'accounts', changes: [{ user_id: 0 }] },
  banking_sessions_status_known: {
    table: 'banking_sessions',
    changes: [{ ...ended, status: 'PAUSED' }],
  },
  banking_sessions_token_while_active: {
    table: 'banking_sessions',
    changes: [{ sealed_token: null }, { ...ended, sealed_token: Buffer.from('kept') }],
  },
  banking_sessions_end_dated: {
    table: 'banking_sessions',
    changes: [{ ended_at: at }, { ...ended, ended_at: null }],
  },
  banking_sessions_user_id_foreign: { table: 'banking_sessions', changes: [{ user_id: 0 }] },
  login_addresses_user_id_foreign: { table: 'login_addresses', changes: [{ user_id: 0 }] },
  reconciliations_user_id_foreign: { table: 'reconciliations', changes: [{ user_id: 0 }] },
  reconciliations_state_known: {
    table: 'reconciliations',
    changes: [{ state: 'LOST' }, { read_at: null }, { state: 'UNREAD' }],
  },
  reconciliations_reason_known: { table: 'reconciliations', changes: [{ reason: 'OTHER' }] },
  reconciliation_differences_user_id_foreign: {
    table: 'reconciliation_differences',
    changes: [{ user_id: 0 }],
  },
  reconciliation_differences_kind_known: {
    table: 'reconciliation_differences',
    changes: [{ kind: 'OTHER' }],
  },
  reconciliation_differences_closed: {
    table: 'reconciliation_differences',
    changes: [
      { closed_at: at },
      { closed_as: 'ACCEPTED' },
      { closed_at: at, closed_as: 'FORGOTTEN' },
    ],
  },
  pix_limits_user_id_foreign: { table: 'pix_limits', changes: [{ user_id: 0 }] },
  pix_limits_amounts: {
    table: 'pix_limits',
    changes: ['day', 'day_next', 'night', 'night_next'].map((one) => ({ [one]: '-0.01' })),
  },
  pix_limits_own_amounts: {
    table: 'pix_limits',
    changes: ['own_day', 'own_day_next', 'own_night', 'own_night_next'].map((one) => ({
      [one]: '-0.01',
    })),
  },
  pix_limits_hours: {
    table: 'pix_limits',
    changes: [{ night_hour: 21 }, { night_hour_next: 6 }],
  },
  pix_transactions_amount_positive: {
    table: 'pix_transactions',
    changes: [{ amount: '0.00' }, { amount: '-0.01' }],
  },
  pix_transactions_closed_key: {
    table: 'pix_transactions',
    changes: [
      { amount: null },
      { ...closedKey, status: 'COMPLETED' },
      { ...closedKey, outcome: null },
      { ...closedKey, outcome: 'rejected' },
      { ...closedKey, failure_code: null },
      { ...closedKey, end_to_end: uuid() },
      { ...closedKey, phase: 'REJECTED' },
    ],
  },
  pix_transactions_operation_known: {
    table: 'pix_transactions',
    changes: [{ operation: 'REFUND' }],
  },
  pix_transactions_outcome_known: { table: 'pix_transactions', changes: [{ outcome: 'maybe' }] },
  pix_transactions_settled_dated: {
    table: 'pix_transactions',
    changes: [
      { settled_at: at },
      { status: 'FAILED', phase: 'SETTLED' },
      { status: 'COMPLETED', phase: 'SETTLED' },
    ],
  },
  pix_transactions_claim_keyed: {
    table: 'pix_transactions',
    changes: [
      { idempotency_key: null },
      { fingerprint: null },
      { ...charge(), fingerprint: null },
      { ...received, idempotency_key: 'key' },
      { ...received, fingerprint: Buffer.from('fingerprint') },
    ],
  },
  pix_transactions_paying_resolved: {
    table: 'pix_transactions',
    changes: [
      ...['RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'].map((phase) => ({ phase })),
      { status: 'FAILED', phase: 'REJECTED', settled_at: at },
    ],
  },
  pix_transactions_charge_identified: {
    table: 'pix_transactions',
    changes: [
      { transaction_identification: 'of-a-send' },
      { operation: 'CHARGE' },
      { ...received, transaction_identification: 'of-a-received' },
    ],
  },
  pix_transactions_expiry_of_charge: {
    table: 'pix_transactions',
    changes: [{ expires_at: at }, { ...received, expires_at: at }],
  },
  pix_transactions_code_of_send: {
    table: 'pix_transactions',
    changes: [
      { ...charge(), code_digest: Buffer.from('code') },
      { ...received, code_digest: Buffer.from('code') },
    ],
  },
  pix_transactions_payee_class_of_send: {
    table: 'pix_transactions',
    changes: [
      { payee_class: 'neighbour' },
      { ...charge(), payee_class: 'person' },
      { ...received, payee_class: 'person' },
    ],
  },
  pix_transactions_refund_identified: {
    table: 'pix_transactions',
    changes: [
      { original_id: uuid() },
      { ...received, operation: 'REFUND_IN', end_to_end: uuid() },
      { ...received, operation: 'REFUND_OUT', original_id: uuid() },
    ],
  },
  pix_transactions_refunded_at_most: {
    table: 'pix_transactions',
    changes: [{ refunded_amount: '0.00' }, { refunded_amount: '10.51' }],
  },
  pix_transactions_returned_at_most: {
    table: 'pix_transactions',
    changes: [
      { refunding_amount: '0.00' },
      { refunding_amount: '10.51' },
      { refunded_amount: '4.00', refunding_amount: '6.51' },
    ],
  },
  pix_transactions_corrected_completed: {
    table: 'pix_transactions',
    changes: [{ corrected_at: at }, { paid_again_by: uuid() }, { ...received, corrected_at: at }],
  },
  pix_transactions_overruled_request: {
    table: 'pix_transactions',
    changes: [{ overruled_at: at }, { ...received, overruled_at: at }],
  },
  pix_transactions_user_id_foreign: { table: 'pix_transactions', changes: [{ user_id: 0 }] },
  onboarding_applications_status_known: {
    table: 'onboarding_applications',
    changes: [{ status: 'OPEN' }],
  },
  onboarding_applications_kyc_known: {
    table: 'onboarding_applications',
    changes: [{ kyc_status: 'MAYBE' }],
  },
  onboarding_applications_person_type_known: {
    table: 'onboarding_applications',
    changes: [{ person_type: 'XX' }],
  },
  onboarding_applications_account_when_approved: {
    table: 'onboarding_applications',
    changes: ['IN_PROGRESS', 'UNDER_ANALYSIS', 'REJECTED'].map((status) => ({
      status,
      conta_bancaria_criada: true,
    })),
  },
  onboarding_applications_user_id_foreign: {
    table: 'onboarding_applications',
    changes: [{ user_id: 0 }],
  },
  onboarding_documents_type_known: {
    table: 'onboarding_documents',
    changes: [{ tipo_documento: 0 }, { tipo_documento: 22 }],
  },
  onboarding_documents_content_type_known: {
    table: 'onboarding_documents',
    changes: [{ content_type: 'image/gif' }],
  },
  onboarding_documents_status_known: {
    table: 'onboarding_documents',
    changes: [{ status: 'lost' }],
  },
  onboarding_documents_stored_whole: {
    table: 'onboarding_documents',
    changes: [
      { tipo_documento: null },
      { content_type: null },
      { size_bytes: null },
      { chunk_count: null },
      { content_hash: null },
      { stored_at: null },
    ],
  },
  onboarding_documents_forwarded_dated: {
    table: 'onboarding_documents',
    changes: [{ status: 'forwarded' }, { forwarded_at: at }],
  },
  onboarding_documents_application_id_foreign: {
    table: 'onboarding_documents',
    changes: [{ application_id: uuid() }],
  },
  onboarding_document_chunks_document_id_foreign: {
    table: 'onboarding_document_chunks',
    changes: [{ document_id: uuid() }],
  },
  webhook_waits_event_id_foreign: { table: 'webhook_waits', changes: [{ event_id: uuid() }] },
  webhook_events_status_known: { table: 'webhook_events', changes: [{ status: 'lost' }] },
  security_events_kind_known: { table: 'security_events', changes: [{ kind: 'lost' }] },
  webhook_refusals_reason_known: {
    table: 'webhook_refusals',
    changes: [{ reason: 'unlucky' }],
  },
  pix_disputes_status_known: { table: 'pix_disputes', changes: [{ status: 'LOST', ended_at: at }] },
  pix_disputes_situation_known: { table: 'pix_disputes', changes: [{ situation: 'REGRET' }] },
  pix_disputes_request_stated: {
    table: 'pix_disputes',
    changes: [{ situation: null }, { situation: null, status: 'REFUSED', ended_at: at }],
  },
  pix_disputes_end_dated: {
    table: 'pix_disputes',
    changes: [{ ended_at: at }, { status: 'ACCEPTED' }, { status: 'REFUSED' }],
  },
  pix_disputes_withdrawal_of_open: {
    table: 'pix_disputes',
    changes: [
      { withdrawal_requested_at: at },
      { withdrawal_requested_at: at, status: 'WITHDRAWN', ended_at: at },
    ],
  },
  pix_pauses_end_named: {
    table: 'pix_pauses',
    changes: [{ ended_at: null }, { ended_by: null }],
  },
  reconciliation_differences_blocks_missing: {
    table: 'reconciliation_differences',
    changes: [{ kind: 'UNPROVEN', blocks: 'SEND' }, { blocks: 'CHARGE' }],
  },
  jobs_status_known: { table: 'jobs', changes: [{ status: 'paused' }] },
  jobs_lease_while_running: {
    table: 'jobs',
    changes: [
      { status: 'running' },
      { ...leased, leased_by: null },
      { ...leased, leased_until: null },
      { ...leased, status: 'queued' },
      { ...leased, status: 'done' },
      { leased_by: 'worker' },
    ],
  },
};

/** Two rows of which the second is refused, by the constraint or unique index that refuses it. */
export const refusedPairs: Readonly<
  Record<string, readonly { table: Table; pair: () => [Row, Row] }[]>
> = {
  users_email_unique: [
    { table: 'users', pair: () => [{ email: 'a@x.test' }, { email: 'A@X.TEST' }] },
  ],
  accounts_cpf_unique: [
    { table: 'accounts', pair: () => same({ document: '52998224725', status: 'ACTIVE' }) },
    {
      table: 'accounts',
      pair: () => [
        { document: '11144477735', status: 'BLOCKED' },
        { document: '11144477735', status: 'ACTIVE' },
      ],
    },
  ],
  accounts_local_number_unique: [
    {
      table: 'accounts',
      pair: () => same({ provider: 'local', agency: '0001', account_number: '123' }),
    },
  ],
  pix_transactions_end_to_end_unique: [
    { table: 'pix_transactions', pair: () => same({ end_to_end: uuid() }) },
    { table: 'pix_transactions', pair: () => same({ ...received, end_to_end: uuid() }) },
    {
      table: 'pix_transactions',
      pair: () =>
        same({ ...received, operation: 'REFUND_IN', original_id: uuid(), end_to_end: uuid() }),
    },
    {
      table: 'pix_transactions',
      pair: () => {
        const end_to_end = uuid();
        return [
          { ...charge(), end_to_end },
          { ...charge(), end_to_end },
        ];
      },
    },
  ],
  pix_transactions_txid_unique: [{ table: 'pix_transactions', pair: () => same(charge()) }],
  webhook_events_payload_hash_unique: [
    { table: 'webhook_events', pair: () => same({ payload_hash: Buffer.from(uuid()) }) },
  ],
  jobs_unique_open: [
    { table: 'jobs', pair: () => same({ unique_key: uuid() }) },
    {
      table: 'jobs',
      pair: () => {
        const unique_key = uuid();
        return [{ unique_key, ...leased }, { unique_key }];
      },
    },
  ],
  ...Object.fromEntries(
    (
      [
        'banking_sessions',
        'pix_transactions',
        'onboarding_applications',
        'onboarding_documents',
        'webhook_events',
      ] as const
    ).map((table) => [`${table}_pkey`, [{ table, pair: () => same({ id: uuid() }) }]]),
  ),
  ...Object.fromEntries(
    (['users', 'accounts', 'jobs'] as const).map((table) => [
      `${table}_pkey`,
      [{ table, pair: () => same({ id: 1_000_000 }) }],
    ]),
  ),
  security_events_counted: [
    { table: 'security_events', pair: () => same({ address: uuid(), hour: at }) },
  ],
  security_events_pkey: [{ table: 'security_events', pair: () => same({ id: 1_000_000 }) }],
  operator_actions_pkey: [{ table: 'operator_actions', pair: () => same({ id: 1_000_000 }) }],
  reconciliation_differences_pkey: [
    { table: 'reconciliation_differences', pair: () => same({ id: 1_000_000 }) },
  ],
  pix_open_pkey: [{ table: 'pix_open', pair: () => same({ transaction_id: uuid() }) }],
  pix_disputes_pkey: [{ table: 'pix_disputes', pair: () => same({ transaction_id: uuid() }) }],
  pix_pauses_pkey: [{ table: 'pix_pauses', pair: () => same({ id: 1_000_000 }) }],
  pix_pauses_one_open: [
    { table: 'pix_pauses', pair: () => same({ ended_at: null, ended_by: null }) },
  ],
  app_events_pkey: [{ table: 'app_events', pair: () => same({ id: uuid() }) }],
  webhook_queue_pkey: [{ table: 'webhook_queue', pair: () => same({ event_id: uuid() }) }],
  webhook_refusals_pkey: [{ table: 'webhook_refusals', pair: () => same({ minute: at }) }],
  throttle_counters_pkey: [{ table: 'throttle_counters', pair: () => same({ key: uuid() }) }],
};

/** The same, for rows that share their parent. */
export const refusedSiblings: Readonly<Record<string, { table: Table; changes?: () => Row }>> = {
  accounts_user_unique: { table: 'accounts' },
  banking_sessions_one_active: { table: 'banking_sessions' },
  pix_limits_pkey: { table: 'pix_limits' },
  reconciliations_pkey: { table: 'reconciliations' },
  reconciliation_differences_once: {
    table: 'reconciliation_differences',
    changes: () => ({ subject: 'the-same' }),
  },
  login_addresses_pkey: {
    table: 'login_addresses',
    changes: () => ({ address_digest: Buffer.from('the-same') }),
  },
  pix_transactions_idempotency_unique: {
    table: 'pix_transactions',
    changes: () => ({ idempotency_key: 'the-same' }),
  },
  pix_transactions_received_unique: {
    table: 'pix_transactions',
    changes: () => ({ ...received, received_txid: 'the-same' }),
  },
  onboarding_applications_user_unique: { table: 'onboarding_applications' },
  onboarding_documents_content_once: {
    table: 'onboarding_documents',
    changes: () => ({ content_hash: Buffer.from('the-same') }),
  },
  onboarding_document_chunks_pkey: { table: 'onboarding_document_chunks' },
  pix_timeline_pkey: { table: 'pix_timeline', changes: () => ({ id: 1_000_000 }) },
  webhook_waits_pkey: { table: 'webhook_waits', changes: () => ({ id_value: 'the-same' }) },
};

export function same(row: Row): [Row, Row] {
  return [row, row];
}
