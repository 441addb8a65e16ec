/** Events that are left to their jobs, whatever they say. */
import type { Database, Statement } from '../../src/db/database.ts';
import { storeWebhookEvent } from '../../src/db/queries/store-webhook-event.ts';

/** The parameters of the statement that stores an event, up to what may be settled with it. */
const ofTheEvent = 6;

/**
 * Has a service store events as it does while somebody is at work on the row of every send: an
 * event is not settled in the commit that stores it.
 * @returns a switch; it is on.
 */
export function leaveToJobs(db: Database): (isOn: boolean) => void {
  const { query } = db;
  let isOn = true;
  Object.assign(db, {
    query: (statement: Statement, parameters: readonly unknown[]) =>
      query(statement, isOn && statement === storeWebhookEvent ? alone(parameters) : parameters),
  });
  return (on) => void (isOn = on);
}

function alone(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value, index) => (index < ofTheEvent ? value : null));
}
