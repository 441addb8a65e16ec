/** What operators see of events, how they replay them, and what a made-up webhook looks like. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { listWebhooks, showWebhook, type WebhookFilter } from '../../../src/operator/webhooks.ts';
import {
  replayWebhooks,
  type WebhookReplay,
  type WebhookReplayInput,
} from '../../../src/operator/webhook-replay.ts';
import { acceptWebhooks } from '../../../src/operator/webhook-accept.ts';
import { composeWebhook, webhookShapes } from '../../../src/operator/webhook-send.ts';
import { confirmed, startSettlingApp } from '../jobs/settling.ts';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { intercepted } from '../../support/intercepted.ts';
import { isPlainJson, refused, unwatched } from './asking.ts';

const app = await startSettlingApp();
const { context, stored } = app;

const minuteMs = 60_000;

async function list(filter: WebhookFilter & { limit?: number } = {}): Promise<string[]> {
  const { events } = await listWebhooks.run(context, { limit: 100, ...filter }, unwatched);
  return events.map(({ id }) => id);
}
const show = (id: string, raw = false) => showWebhook.run(context, { id, raw }, unwatched);
const replay = (input: Partial<WebhookReplayInput>): Promise<WebhookReplay> =>
  replayWebhooks.run(context, { limit: 100, ...input }, unwatched);

/** An end-to-end id that no transaction has. */
const nobodys = () => newEndToEndId('11165756', app.clock.now());

describe('webhook list', () => {
  it('shows the newest first, by state and time, with the number of items for each result', async () => {
    const start = app.clock.now().toISOString();
    const send = await app.givenSend();
    const first = await app.receive([confirmed({ endToEnd: send.end_to_end }), { event: 'NEWS' }]);
    await app.clock.advance(minuteMs);
    const second = await app.receive(confirmed({ endToEnd: nobodys() }));
    await app.clock.advance(1);
    const third = await app.deliver({ event: 'NEWS', id: randomUUID() });
    assert.deepEqual(await list({ since: start }), [third, second.eventId, first.eventId]);
    assert.deepEqual(await list({ since: start, limit: 1 }), [third]);
    assert.deepEqual(await list({ since: start, state: 'parked' }), [second.eventId]);
    assert.deepEqual(await list({ since: start, until: start }), [first.eventId]);
    assert.deepEqual(await list({ eventIds: [first.eventId, third] }), [third, first.eventId]);
    const { events } = await listWebhooks.run(
      context,
      { eventIds: [first.eventId, third], limit: 10 },
      unwatched,
    );
    assert.deepEqual(
      events.map(({ state, outcomes }) => [state, outcomes]),
      [
        ['received', {}],
        ['processed', { applied: 1, ignored: 1 }],
      ],
    );
    assert.equal(events[1]?.receivedAt, start);
    isPlainJson(events);
    await app.settle(third);
  });

  it('finds the events of a transaction: of its timeline, and parked ones that wait for it', async () => {
    const send = await app.givenSend();
    const settling = await app.receive(confirmed({ endToEnd: send.end_to_end }));
    const contradicting = await app.receive(
      confirmed({ endToEnd: send.end_to_end, status: 'ERROR' }),
    );
    const waiting = await app.receive(confirmed({ endToEnd: nobodys() }));
    await app.receive(confirmed({ endToEnd: nobodys() }));
    await app.rows('insert into webhook_waits (id_value, event_id) values ($1, $2)', [
      send.end_to_end,
      waiting.eventId,
    ]);
    assert.deepEqual(
      new Set(await list({ transactionId: send.id })),
      new Set([settling.eventId, contradicting.eventId, waiting.eventId]),
    );
    assert.deepEqual(await list({ transactionId: send.id, state: 'parked' }), [waiting.eventId]);
    const among = [settling.eventId, randomUUID()];
    assert.deepEqual(await list({ transactionId: send.id, eventIds: among }), [settling.eventId]);
    assert.deepEqual(await list({ transactionId: randomUUID() }), []);
    const byEndToEnd = await list({ transactionId: send.end_to_end });
    assert.deepEqual(new Set(byEndToEnd), new Set(await list({ transactionId: send.id })));
  });

  it('finds the events that wait for an id that no transaction has', async () => {
    const endToEnd = nobodys();
    const { eventId } = await app.receive(confirmed({ endToEnd }));
    await app.settle(eventId);
    assert.deepEqual(await list({ transactionId: endToEnd }), [eventId]);
  });

  it('refuses what is no id and no time', async () => {
    await refused(list({ eventIds: ['x'] }), /x is not the id of an event/, 'INVALID');
    await refused(list({ transactionId: 'y' }), /'y' is not an id of a transaction/, 'NOT_FOUND');
    await refused(list({ since: 'yesterday-ish' }), /yesterday-ish is not a time/, 'INVALID');
    await refused(list({ until: '2026-13-01' }), /2026-13-01 is not a time/, 'INVALID');
  });
});

describe('webhook show', () => {
  it('shows what became of each item, the next attempt, the waits, and the payload without people', async () => {
    const endToEnd = nobodys();
    const payload = {
      ...confirmed({ endToEnd }),
      payer: { name: 'Maria', document: '52998224725' },
    };
    const { eventId } = await app.receive(payload);
    const shown = await show(eventId);
    assert.equal(shown.event.state, 'parked');
    assert.deepEqual(shown.items, [{ index: 0, result: 'parked', reason: 'no_match' }]);
    assert.deepEqual(shown.waitsFor, [endToEnd]);
    const { dueAt, failures, lastError } = shown.event;
    const inASecond = new Date(app.clock.now().getTime() + 1_000).toISOString();
    assert.deepEqual([dueAt, failures, lastError], [inASecond, 0, null]);
    assert.deepEqual(shown.payload, { ...payload, payer: { name: '***', document: '***' } });
    isPlainJson(shown);
  });

  it('shows the payload as received on request, with its byte order mark', async () => {
    const text = `\uFEFF { "event": "NEWS", "nome": "Maria" }`;
    const eventId = await app.deliver(text);
    assert.equal((await show(eventId, true)).payload, text.slice(1));
    assert.deepEqual((await show(eventId)).payload, { event: 'NEWS', nome: '***' });
    await app.settle(eventId);
  });

  it('says in a sentence what an anomaly means', async () => {
    const send = await app.givenSend();
    const paid = confirmed({ endToEnd: send.end_to_end });
    await app.receive(paid);
    const { eventId } = await app.receive({ ...paid, status: 'ERROR', error: { code: 'AB03' } });
    const [item] = (await show(eventId)).items;
    assert.equal(item?.transactionId, send.id);
    assert.equal(
      item.says,
      "The bank's event is an anomaly: it says another end than the transaction has; nothing was " +
        'changed by it.',
    );
  });

  it('says that a payload was purged', async () => {
    const { eventId } = await app.receive({ event: 'NEWS', id: randomUUID() });
    await app.rows('update webhook_events set payload = null where id = $1', [eventId]);
    for (const raw of [true, false]) {
      const { event, payload } = await show(eventId, raw);
      assert.equal(payload, null);
      assert.equal(event.payloadBytes, null);
    }
  });

  it('reports an event that does not exist, whatever the command', async () => {
    await refused(show(randomUUID()), /there is no event/, 'NOT_FOUND');
    await refused(show('%'), /% is not the id of an event/, 'INVALID');
  });
});

describe('webhook replay', () => {
  /** An event that was orphaned before its transaction could be found by it. */
  async function givenOrphan() {
    const endToEnd = nobodys();
    const { eventId } = await app.receive(confirmed({ endToEnd, amount: 10.5 }));
    await app.rows(`update webhook_events set status = 'orphaned' where id = $1`, [eventId]);
    await app.rows('delete from webhook_waits where event_id = $1', [eventId]);
    await app.rows(`delete from jobs where payload->>'eventId' = $1`, [eventId]);
    const send = await app.givenSend();
    await app.rows('update pix_transactions set end_to_end = $2 where id = $1', [
      send.id,
      endToEnd,
    ]);
    return { eventId, send };
  }

  it('shows item by item what would change, and changes nothing', async () => {
    const { eventId, send } = await givenOrphan();
    const before = await app.rows('select * from webhook_events where id = $1', [eventId]);
    const { events, total, next } = await replay({
      eventIds: [eventId],
      dryRun: true,
      counting: true,
    });
    assert.equal(total, 1);
    assert.equal(next, null);
    assert.deepEqual(events, [
      {
        eventId,
        result: 'preview',
        from: 'orphaned',
        to: 'processed',
        outcomes: { applied: 1 },
        items: [
          {
            index: 0,
            result: 'applied',
            transactionId: send.id,
            from: 'PROCESSING',
            to: 'COMPLETED',
          },
        ],
      },
    ]);
    assert.equal((await stored(send.id)).status, 'PROCESSING');
    assert.deepEqual(
      await app.rows('select * from webhook_events where id = $1', [eventId]),
      before,
    );
  });

  it('settles an event once more; a second time changes nothing', async () => {
    const { eventId, send } = await givenOrphan();
    const { events } = await replay({ eventIds: [eventId] });
    assert.deepEqual(events, [
      {
        eventId,
        result: 'replayed',
        from: 'orphaned',
        to: 'processed',
        outcomes: { applied: 1 },
        items: [{ index: 0, result: 'applied', transactionId: send.id }],
      },
    ]);
    assert.equal((await stored(send.id)).status, 'COMPLETED');
    const again = await replay({ eventIds: [eventId] });
    assert.deepEqual(again.events, [
      {
        eventId,
        result: 'replayed',
        from: 'processed',
        to: 'processed',
        outcomes: { already: 1 },
        items: [],
      },
    ]);
    const { event } = await show(eventId);
    assert.deepEqual(event.outcomes, { applied: 1 });
    const lines = await app.timeline(send.id);
    assert.equal(lines.filter((line) => line.startsWith('SETTLED')).length, 1);
  });

  it('goes through a filter page by page, oldest first, and counts what is left', async () => {
    await app.clock.advance(minuteMs);
    const since = app.clock.now().toISOString();
    const received: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      await app.clock.advance(1);
      received.push((await app.receive({ event: 'NEWS', id: randomUUID() })).eventId);
    }
    await app.receive(confirmed({ endToEnd: nobodys() }));
    const filter = { state: 'ignored', since, limit: 2 } as const;
    const seen: string[] = [];
    let page = await replay({ ...filter, counting: true });
    assert.equal(page.total, 5);
    assert.equal((await replay({ ...filter, counting: true, after: page.next ?? '' })).total, 3);
    for (;;) {
      seen.push(...page.events.map(({ eventId }) => eventId));
      if (page.next === null) break;
      page = await replay({ ...filter, after: page.next });
      assert.equal(page.total, null);
    }
    assert.deepEqual(seen, received);
  });

  it('stops where the service stops, and goes on from there', async () => {
    await app.clock.advance(minuteMs);
    const since = app.clock.now().toISOString();
    for (let n = 0; n < 3; n += 1) {
      await app.clock.advance(1);
      await app.receive({ event: 'NEWS', id: randomUUID() });
    }
    const stopping = new AbortController();
    const db = intercepted(context.db, (run) => (statement, parameters) => {
      if (statement.name === 'webhook-finish') stopping.abort();
      return run(statement, parameters);
    });
    const stoppable = { ...context, db, stopping: stopping.signal };
    const input = { state: 'ignored', since, limit: 100 } as const;
    const first = await replayWebhooks.run(stoppable, input, unwatched);
    assert.equal(first.events.length, 1);
    assert.ok(first.next !== null);
    const nothing = await replayWebhooks.run(stoppable, { ...input, after: first.next }, unwatched);
    assert.deepEqual([nothing.events, nothing.next], [[], first.next]);
    const rest = await replay({ ...input, after: first.next });
    assert.equal(rest.events.length, 2);
    assert.equal(rest.next, null);
  });

  it('reports what cannot be replayed: missing, purged, or failed; the others are', async () => {
    const missing = randomUUID();
    const purged = (await app.receive({ event: 'NEWS', id: randomUUID() })).eventId;
    const failed = (await app.receive({ event: 'NEWS', id: randomUUID() })).eventId;
    const good = (await app.receive({ event: 'NEWS', id: randomUUID() })).eventId;
    await app.rows('update webhook_events set payload = null where id = $1', [purged]);
    const results = async (dryRun: boolean) => {
      const { events } = await replay({ eventIds: [missing, purged, good], dryRun });
      return new Map(events.map(({ eventId, result }) => [eventId, result]));
    };
    assert.deepEqual(
      await results(true),
      new Map([
        [missing, 'missing'],
        [purged, 'purged'],
        [good, 'preview'],
      ]),
    );
    const db = intercepted(context.db, (run) => (statement, parameters) => {
      const isOfFailed = statement.name === 'webhook-finish' && parameters['id'] === failed;
      if (isOfFailed) return Promise.reject(new Error('simulated: a defect'));
      return run(statement, parameters);
    });
    const input = { eventIds: [failed, good], limit: 100 };
    const { events } = await replayWebhooks.run({ ...context, db }, input, unwatched);
    assert.deepEqual(
      new Map(events.map(({ eventId, result }) => [eventId, result])),
      new Map([
        [failed, 'failed'],
        [good, 'replayed'],
      ]),
    );
  });

  it('reports the named events that the filter excludes, once', async () => {
    const missing = randomUUID();
    const ignored = (await app.receive({ event: 'NEWS', id: randomUUID() })).eventId;
    const parked = (await app.receive(confirmed({ endToEnd: nobodys() }))).eventId;
    const eventIds = [missing, ignored, parked.toUpperCase()];
    const results = async (filter: Partial<WebhookReplayInput>) => {
      const { events } = await replay({ eventIds, dryRun: true, ...filter });
      return events.map(({ eventId, result }) => [eventId, result]);
    };
    assert.deepEqual(await results({ state: 'parked' }), [
      [missing, 'missing'],
      [ignored, 'excluded'],
      [parked, 'preview'],
    ]);
    const { id } = await app.givenSend();
    assert.deepEqual(await results({ transactionId: id }), [
      [missing, 'missing'],
      [ignored, 'excluded'],
      [parked.toUpperCase(), 'excluded'],
    ]);
    const first = await replay({ eventIds, state: 'parked', dryRun: true, limit: 1 });
    const after = first.next ?? assert.fail('there is a next page');
    assert.deepEqual(await results({ state: 'parked', after }), []);
  });

  it('warns, and reports no defect, when others settle the event at every attempt', async () => {
    const { eventId } = await app.receive(confirmed({ endToEnd: nobodys() }));
    const levels: string[] = [];
    const log = {
      ...context.log,
      error: () => levels.push('error'),
      warn: () => levels.push('warn'),
    } as typeof context.log;
    const query: typeof context.db.query = async (statement, parameters) => {
      if (statement.name === 'webhook-park') {
        await app.clock.advance(1);
        await app.settle(eventId);
      }
      return context.db.query(statement, parameters);
    };
    const beside = { ...context, log, db: { ...context.db, query } };
    const input = { eventIds: [eventId], limit: 1 };
    const { events } = await replayWebhooks.run(beside, input, unwatched);
    assert.deepEqual(
      events.map(({ result }) => result),
      ['failed'],
    );
    assert.deepEqual(levels, ['warn']);
  });

  it('gives up at once when the database is away', async () => {
    const { eventId } = await app.receive({ event: 'NEWS', id: randomUUID() });
    const db = intercepted(context.db, (run) => async (statement, parameters) => {
      if (statement.name === 'webhook-find') {
        throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
      }
      return run(statement, parameters);
    });
    const input = { eventIds: [eventId], limit: 1 };
    await assert.rejects(replayWebhooks.run({ ...context, db }, input, unwatched), /gone/);
  });

  it('shows what needs an eye and counts the rest', async () => {
    const items = Array.from({ length: 60 }, () => confirmed({ endToEnd: nobodys() }));
    const { eventId } = await app.receive([{ event: 'NEWS' }, ...items]);
    const { events } = await replay({ eventIds: [eventId] });
    assert.deepEqual(events[0]?.outcomes, { ignored: 1, parked: 60 });
    assert.equal(events[0].items.length, 50);
    assert.ok(events[0].items.every(({ result }) => result === 'parked'));
  });

  it('refuses without ids and without a filter, and a place that is none', async () => {
    await refused(replay({}), /name events/, 'INVALID');
    await refused(replay({ dryRun: true, after: 'x' }), /name events/, 'INVALID');
    for (const after of ['', 'x', '2026-05-24T12:00:00.000Z/x']) {
      await refused(replay({ state: 'parked', after }), /is not a cursor/, 'INVALID');
    }
  });
});

describe('webhook accept', () => {
  const reason = 'ticket 7';
  const accept = (ids: readonly string[], input: { reason?: string } = {}) =>
    acceptWebhooks.run(context, { ids, reason, ...input }, unwatched);

  /** An event that contradicts a send that is completed. */
  async function givenAnomaly() {
    const send = await app.givenSend();
    const paid = confirmed({ endToEnd: send.end_to_end });
    await app.receive(paid);
    return app.receive({ ...paid, status: 'ERROR', error: { code: 'AB03' } });
  }

  it('closes an anomaly for good, and a replay opens it again', async () => {
    const { eventId } = await givenAnomaly();
    assert.ok((await list({ state: 'anomaly' })).includes(eventId));
    assert.deepEqual(await accept([eventId.toUpperCase()]), { accepted: [eventId], notOpen: [] });
    assert.ok(!(await list({ state: 'anomaly' })).includes(eventId));
    const { event, items } = await show(eventId);
    assert.deepEqual([event.state, items[0]?.result], ['ignored', 'anomaly']);
    const [recorded] = await app.rows(
      'select command, reason, outcome from operator_actions where target = $1',
      [`event:${eventId}`],
    );
    assert.deepEqual(recorded, { command: 'webhook accept', reason, outcome: 'accepted' });
    assert.deepEqual(await accept([eventId, eventId]), { accepted: [], notOpen: [eventId] });
    await replay({ eventIds: [eventId] });
    assert.ok((await list({ state: 'anomaly' })).includes(eventId));
  });

  it('leaves an event that waits, and one that is settled', async () => {
    const waiting = await app.receive(confirmed({ endToEnd: nobodys() }));
    const settled = await app.receive(confirmed({ endToEnd: (await app.givenSend()).end_to_end }));
    const ids = [waiting.eventId, settled.eventId];
    assert.deepEqual(await accept(ids), { accepted: [], notOpen: ids });
  });

  it('refuses what is no id, and a decision without a reason', async () => {
    const { eventId } = await givenAnomaly();
    await refused(accept(['17']), /^17 is not the id of an event$/, 'INVALID');
    await refused(accept([eventId], { reason: ' ' }), /^a reason is required$/, 'INVALID');
    assert.ok((await list({ state: 'anomaly' })).includes(eventId));
  });
});

describe('webhook send', () => {
  const compose = (transactionId: string, changes: object = {}) =>
    composeWebhook.run(
      context,
      { transactionId, status: 'COMPLETED', shape: 'flat', ...changes },
      unwatched,
    );

  for (const shape of webhookShapes) {
    it(`composes a ${shape} webhook that ends the charge, and the send where it can`, async () => {
      const charge = await app.charge(app.customer, { type: 'dynamic', amount: 89.9 });
      const chargeId: string = charge.body.transaction_id;
      const { payload } = await compose(chargeId, { shape });
      assert.equal((await app.receive(payload)).status, 'processed');
      assert.equal((await stored(chargeId)).status, 'COMPLETED');
      if (shape === 'bacen') {
        const { id } = await app.givenSend();
        await refused(compose(id, { shape }), /reports received Pix only/);
        return;
      }
      for (const status of ['COMPLETED', 'FAILED']) {
        const { id } = await app.givenSend();
        const received = await compose(id, { shape, status });
        assert.equal((await app.receive(received.payload)).status, 'processed', shape);
        assert.equal((await stored(id)).status, status);
      }
    });
  }

  it('composes the webhook of a charge that has expired', async () => {
    const charge = await app.charge(app.customer, { type: 'dynamic', amount: 5 });
    const id: string = charge.body.transaction_id;
    const { payload } = await compose(id, { status: 'FAILED' });
    assert.equal((await app.receive(payload)).status, 'processed');
    assert.equal((await stored(id)).failure_code, 'CHARGE_EXPIRED');
    const late = await compose(id);
    assert.equal((await app.receive(late.payload)).status, 'anomaly');
  });

  it('composes the webhook of a refund, each with another return id', async () => {
    const send = await app.givenSend();
    await app.receive((await compose(send.id)).payload);
    for (const refund of ['4.00', '6.50']) {
      const { payload } = await compose(send.id, { refund });
      assert.equal((await app.receive(payload)).status, 'processed');
    }
    const refunds = await app.rows<{ id: string; amount: string }>(
      'select id, amount from pix_transactions where original_id = $1 order by id',
      [send.id],
    );
    assert.deepEqual(
      refunds.map(({ amount }) => amount),
      ['4.00', '6.50'],
    );
    await refused(compose(refunds[0]?.id ?? ''), /a refund already has its webhook/);
    await refused(compose(send.id, { refund: 'some' }), /not one in reais/, 'INVALID');
    const beyond = await compose(send.id, { refund: '0.01' });
    assert.equal((await app.receive(beyond.payload)).status, 'anomaly');
  });

  it('refuses what no provider would post', async () => {
    const send = await app.givenSend();
    await refused(compose(send.id, { refund: '1.00' }), /only a COMPLETED payment/);
    await app.rows(
      `update pix_transactions set phase = 'RESERVED', end_to_end = null where id = $1`,
      [send.id],
    );
    await refused(compose(send.id), /no end-to-end id/);
    await refused(compose(randomUUID()), /there is no transaction/, 'NOT_FOUND');
    await refused(compose('x'), /'x' is not an id of a transaction/, 'NOT_FOUND');
  });
});
