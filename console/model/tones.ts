/** The tones of statuses; the colour says nothing that the word does not. */
import type { Tone } from './lines.ts';

const statuses: Readonly<Record<string, Tone>> = {
  COMPLETED: 'good',
  ACTIVE: 'good',
  APPROVED: 'good',
  done: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  BLOCKED: 'bad',
  failed: 'bad',
  dead: 'bad',
  PROCESSING: 'doubtful',
  PENDING: 'doubtful',
  UNDER_ANALYSIS: 'doubtful',
  queued: 'doubtful',
};

/** The tone of a status; one that is not known is plain. */
export function toneOf(status: string): Tone {
  return statuses[status] ?? 'plain';
}
