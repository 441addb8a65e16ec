/** The column `attention` of events, which the table's trigger and the settlement both write. */
import { isOneOf } from './statement.ts';

/** The statuses of an event that waits or needs an operator. */
export const attentionStatuses = ['parked', 'orphaned', 'anomaly'] as const;

/**
 * @param status what holds the status of an event, in SQL.
 * @returns the status of an event that waits or needs an operator; otherwise null.
 */
export function selectAttention(status: string): string {
  return `case when ${isOneOf(status, attentionStatuses)} then ${status} end`;
}
