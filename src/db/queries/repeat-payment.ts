import type { Statement } from '../database.ts';

/**
 * Notes in the timeline that a payment is about to leave once more, if it is still this process's
 * to pay: the send stands in PAYING under the same claim, which has not expired, and no event about
 * it waits for the end of the call. Such an event may say that the payment has failed, and an
 * attempt after it would be executed although it is stored as failed. Answers no row otherwise.
 *
 * An event that names the send by nothing but the idempotency key may be another user's: it counts
 * only if it has come since the send was made. The clock of each process may be wrong by five
 * minutes.
 * Parameters: id, claimed until, now, number of the attempt, how the last one looked, note.
 */
export const repeatPayment: Statement = {
  name: 'pix-repeat',
  text: `
    with held as (
      select t.id from pix_transactions t
       where t.id = $1 and t.settled_at is null and t.phase = 'PAYING'
         and t.claimed_until = $2 and t.claimed_until > $3
         and not exists (select from webhook_waits wait
                          where wait.id_value = t.end_to_end)
         and not exists (select from webhook_waits wait
                           join webhook_events event on event.id = wait.event_id
                          where wait.id_value = t.idempotency_key
                            and event.received_at >= t.created_at - interval '10 minutes')
         for no key update
    )
    insert into pix_timeline (transaction_id, phase, at, attempt, provider_status, note)
    select id, 'PAYING', $3, $4, $5, $6 from held
    returning transaction_id`,
};

/** Finds when the attempts at a payment were noted. Parameters: transaction id. */
export const findAttempts: Statement = {
  name: 'pix-find-attempts',
  text: `select at from pix_timeline where transaction_id = $1 and phase = 'PAYING' order by id`,
};
