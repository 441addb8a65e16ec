/** The column `attention` of events, which the table's trigger and the settlement both write. */
import { isOneOf } from './statement.ts';

/**
 * @param status what holds the status of an event, in SQL.
 * @returns the status of an event that waits or needs an operator; otherwise null.
 */
export function attentionOf(status: string): string {
  return `case when ${isOneOf(status, ['parked', 'orphaned', 'anomaly'])} then ${status} end`;
}
