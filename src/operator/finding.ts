/** One line of `ponte doctor`. */
export interface Finding {
  readonly name: string;
  /** `doubtful`: unsuitable for real money, or an operator must check it. */
  readonly state: 'ok' | 'doubtful' | 'bad';
  /** The finding, as a sentence without a full stop. */
  readonly says: string;
  /** What to do; null for nothing. */
  readonly todo: string | null;
  /** `usage`: a setting is invalid, which is wrong usage. */
  readonly kind?: 'usage';
}

/** @returns a finding without anything to do. */
export function ok(name: string, says: string): Finding {
  return { name, state: 'ok', says, todo: null };
}

/** @returns a finding that keeps the service from working. */
export function bad(name: string, says: string, todo: string): Finding {
  return { name, state: 'bad', says, todo };
}

/** @returns a finding that an operator must check. */
export function doubtful(name: string, says: string, todo: string): Finding {
  return { name, state: 'doubtful', says, todo };
}

/** Formats a duration for people: seconds up to two minutes, minutes up to two hours, hours. */
export function formatDuration(seconds: number): string {
  if (seconds < 2 * 60) return `${Math.floor(seconds)} s`;
  if (seconds < 2 * 3_600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3_600)} h`;
}
