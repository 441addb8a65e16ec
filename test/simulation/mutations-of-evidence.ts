/** Mutations of what proves that a payment or a charge has ended: see `mutations.ts`. */
import type { Statement } from '../../src/db/database.ts';
import { keyStatements } from '../../src/accounts/pix-key-repository.ts';
import { correctionStatements } from '../../src/ledger/correction-repository.ts';
import { findWebhookEvent, type WebhookEventRow } from '../../src/settlement/event-repository.ts';
import type { Provider, StatementLine } from '../../src/provider/provider.ts';
import { noAdversary, type Adversary } from './bank/adversary.ts';
import { unlistedCodes } from './bank/words.ts';
import { intercepted } from '../support/intercepted.ts';
import type { Deviation, Mutation } from './deviation.ts';

type Changed = Partial<Pick<WebhookEventRow, 'payload' | 'receivedAt'>>;

/** A database whose stored events are read with a change. */
function readingEvents(change: (row: WebhookEventRow) => Changed): NonNullable<Deviation['db']> {
  return (db) =>
    intercepted(db, (run) => async (statement, parameters) => {
      const rows = await run(statement, parameters);
      if (statement !== findWebhookEvent) return rows;
      return rows.map((row) => Object.assign(row, change(row as unknown as WebhookEventRow)));
    });
}

/** Stored events whose payloads are read with a change. */
function readingPayloads(change: (payload: string) => string): NonNullable<Deviation['db']> {
  return readingEvents(({ payload }) => ({
    payload: payload && Buffer.from(change(payload.toString('utf8')), 'utf8'),
  }));
}

/** A database that does not execute a statement. */
function omitting(omitted: Pick<Statement, 'name'>): NonNullable<Deviation['db']> {
  return (db) =>
    intercepted(db, (run) => async (statement, parameters) => {
      return statement.name === omitted.name ? [] : run(statement, parameters);
    });
}

/** An adversary with one behaviour, which then is frequent. */
function only(behaviour: Partial<Adversary>): NonNullable<Deviation['policy']> {
  return { adversary: { ...noAdversary, ...behaviour } };
}

const listedCode = 'AC03';

const anyCode = new RegExp(`"(${unlistedCodes.join('|')})"`, 'g');

/** Whether every statement is read as if it were whole. */
const firstPageSuffices = (provider: Provider): Provider => ({
  ...provider,
  statement: async (request) => ({ ...(await provider.statement(request)), isWhole: true }),
});

/** Whether the debit of a payment proves it as soon as a statement shows it. */
const debitsAreFinal = (provider: Provider): Provider => ({
  ...provider,
  statement: async (request) => ({ ...(await provider.statement(request)), isFinal: true }),
});

/** Whether the reversals of debits are overlooked. */
const reversalsAreUnread = (provider: Provider): Provider => ({
  ...provider,
  async statement(request) {
    const statement = await provider.statement(request);
    const isRead = ({ direction, ids }: StatementLine) =>
      direction !== 'in' || ids.endToEnd === null || ids.returnId !== null;
    return { ...statement, lines: statement.lines.filter(isRead) };
  },
});

/** Every look-up shows the same owner. */
const ownersNotCompared = (provider: Provider): Provider => ({
  ...provider,
  async lookUpKey(request) {
    const { endToEnd } = await provider.lookUpKey(request);
    return { endToEnd, name: 'Maria Souza', document: '39053344705', ispb: '60701190' };
  },
});

const farInTheFuture = new Date('2099-01-01T00:00:00Z');

export const mutationsOfEvidence: readonly Mutation[] = [
  {
    name: 'a failed payment that was made is not corrected',
    deviation: { db: omitting(correctionStatements.correct), policy: only({ falseRefusals: 0.8 }) },
  },
  {
    name: 'an ERROR event with a code in no table proves a failure',
    deviation: {
      db: readingPayloads((text) => text.replaceAll(anyCode, `"${listedCode}"`)),
      policy: only({ unlistedCodes: 0.9 }),
    },
  },
  {
    name: 'an event that is older than the send settles it',
    deviation: {
      db: readingEvents(() => ({ receivedAt: farInTheFuture })),
      policy: only({ otherChannels: 1 }),
      profile: { clockSkewMs: 0, clockJumps: 0 },
    },
  },
  {
    name: 'a charge is completed by money for somebody else',
    deviation: {
      db: readingPayloads((text) =>
        text.replaceAll(/"(creditParty|chave)":/g, (_, name: string) => `"${name.slice(1)}":`),
      ),
      policy: only({ copiedCodes: 1 }),
    },
  },
  {
    name: 'a key stays with the account that has listed it first',
    deviation: {
      db: (db) =>
        intercepted(
          db,
          (run) => (statement, parameters) =>
            run(statement.name === keyStatements.keep.name ? keptForAll : statement, parameters),
        ),
      policy: only({ movingKeys: 1 }),
      profile: { failovers: 0 },
    },
  },
  {
    name: 'the first page of a statement counts as the whole',
    deviation: { wire: firstPageSuffices, policy: only({ furtherPages: 'more' }) },
  },
  {
    name: 'a debit proves a payment although the bank may still reverse it',
    deviation: { wire: debitsAreFinal },
  },
  {
    name: 'the reversal of a debit is overlooked',
    deviation: { wire: reversalsAreUnread },
  },
  {
    name: 'the owners of two look-ups are not compared',
    deviation: { provider: ownersNotCompared, policy: only({ movingKeys: 1 }) },
  },
];

/** Stores the keys of an account and leaves those of the others. */
const keptForAll = {
  ...keyStatements.keep,
  name: `${keyStatements.keep.name}#changed`,
  text: `update accounts set pix_keys = $2::text[], pix_keys_version = $3::bigint + 1
          where id = $1::int`,
};
