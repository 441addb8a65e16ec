/** Metrics that count nothing; this file loads no package of metrics. */
import type { LocalMetrics } from './metrics.ts';

const nothing = { inc: () => undefined };

/** Counts nothing, for a command or for work that is rolled back. */
export const uncounted: LocalMetrics = {
  databaseQueries: nothing,
  guessedEmails: nothing,
  serviceLimits: nothing,
  webhookEvents: nothing,
  pixAnomalies: nothing,
  pixCorrections: nothing,
  lostCommits: nothing,
  pixUnreadEvents: nothing,
  unreadEvents: nothing,
};
