/**
 * The findings of `doctor` about the running service: what only that process knows and publishes at
 * `/metrics`. Alarms watch the same numbers over minutes; these are since the start of the process.
 */
import { doubtful, formatDuration, ok, type Finding } from './finding.ts';

/** A line of the text format of Prometheus. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * @param text the response of `/metrics`.
 * @param now the time.
 */
export function examineService(text: string, now: Date): Finding[] {
  const metrics = new Metrics(text);
  const seconds = now.getTime() / 1_000 - metrics.max('process_start_time_seconds');
  const since = 'since its start';
  return [
    ok('service', `runs, and was started ${formatDuration(Math.max(0, seconds))} ago`),
    counted('internal errors', metrics.sum('ponte_http_request_seconds_count', { status: '500' }), {
      since,
      todo: 'a defect: search the log for `the request failed`',
    }),
    counted('unhandled errors', metrics.sum('ponte_defects_total'), {
      since,
      todo: 'a defect: search the log for `a defect: an error was not handled`',
    }),
    counted('closed connections', metrics.sum('ponte_http_connections_closed_total'), {
      since,
      todo: 'clients exceed MAX_CONNECTIONS, or do not read their responses',
    }),
    findReplyTimes(metrics, since),
    providerCalls(metrics, since),
    breakers(metrics),
    notifications(metrics),
    waiting('unstored outcomes', metrics.sum('ponte_pix_unstored_outcomes'), {
      most: 0,
      todo: 'do not stop this process: it alone knows them; bring the database back',
    }),
    waiting('database connections', metrics.sum('ponte_database_waiting'), {
      most: 0,
      todo: 'statements wait for a connection: look for slow ones, or add an instance',
    }),
    waiting('password hashes', metrics.sum('ponte_password_hashes', { state: 'waiting' }), {
      most: 128,
      todo: 'a storm of logins: `ponte audit events`',
    }),
    waiting('waiting logins', metrics.sum('ponte_logins_waiting'), {
      most: 80,
      todo: 'guesses at many e-mails: from 100 of a lane on, those of a network with many get 429',
    }),
    counted('guessed passwords', metrics.sum('ponte_login_guessed_emails_total'), {
      since,
      todo: 'search the log for `strangers guess the password of an e-mail`',
    }),
    counted('limits of the service', metrics.sum('ponte_service_limits_reached_total'), {
      since,
      todo: 'CODES_PER_HOUR or UPLOADS_MIB_PER_HOUR: a crowd of applicants, or an attack',
    }),
    counted('stuck jobs', metrics.sum('ponte_jobs_stuck_total'), {
      since,
      todo: 'search the log for `a job is stuck`',
    }),
    eventLoop(metrics),
  ];
}

/** The line of a service whose metrics cannot be read: `reason` says why. */
export function unexaminedService(where: string, reason: string): Finding {
  const problem = `its metrics at ${where} cannot be read (${reason})`;
  const says = `${problem}: what it alone knows is not checked`;
  return doubtful('service', says, 'start it, or run this where METRICS_HOST can be reached');
}

interface Counted {
  readonly since: string;
  readonly todo: string;
}

function counted(name: string, count: number, { since, todo }: Counted): Finding {
  return count === 0 ? ok(name, `none ${since}`) : doubtful(name, `${count} ${since}`, todo);
}

interface Waiting {
  /** As many are usual. */
  readonly most: number;
  readonly todo: string;
}

function waiting(name: string, count: number, { most, todo }: Waiting): Finding {
  const says = count === 0 ? 'none waits' : `${count} wait`;
  return count <= most ? ok(name, says) : doubtful(name, says, todo);
}

const slowSeconds = 2;

function findReplyTimes(metrics: Metrics, since: string): Finding {
  const name = 'answer times';
  const seconds = metrics.quantile('ponte_http_request_seconds', 0.95, ({ operation }) => {
    // Its responses wait: that is what they are for.
    return operation !== 'getPixTransaction';
  });
  if (seconds === null) return ok(name, `no responses ${since}`);
  const says =
    seconds === Infinity
      ? `more than 5 % are slower than the slowest that is measured ${since}`
      : `95 % within ${seconds} s ${since}`;
  const todo = 'compare them with the times of the provider, and look for slow statements';
  return seconds <= slowSeconds ? ok(name, says) : doubtful(name, says, todo);
}

const failedClasses = ['5xx', 'timeout', 'reset', 'connect'];

function providerCalls(metrics: Metrics, since: string): Finding {
  const name = 'provider calls';
  const calls = 'ponte_provider_call_seconds_count';
  const all = metrics.sum(calls);
  if (all === 0) return ok(name, `none ${since}`);
  const failed = failedClasses.reduce(
    (total, status) => total + metrics.sum(calls, { status_class: status }),
    0,
  );
  const says = `${failed} of ${all} failed ${since}`;
  if (failed <= all / 20) return ok(name, says);
  return doubtful(name, says, 'ask the provider; jobs and payments go on when it is back');
}

function breakers(metrics: Metrics): Finding {
  const name = 'circuit breakers';
  const open = metrics
    .named('ponte_provider_breaker_state')
    .filter(({ value }) => value > 0)
    .map(({ labels }) => labels['lane']);
  if (open.length === 0) return ok(name, 'closed');
  const says = `open for ${open.join(', ')}: the provider fails, and its calls are answered 502`;
  return doubtful(name, says, 'ask the provider; they close by themselves');
}

function notifications(metrics: Metrics): Finding {
  const name = 'notifications';
  if (metrics.max('ponte_database_notifications_up') === 1) return ok(name, 'arrive');
  const todo = 'look for a pooler that shares sessions, or a firewall that drops idle connections';
  return doubtful(name, 'of the database do not arrive: waits and jobs poll', todo);
}

const maxLagSeconds = 0.2;

function eventLoop(metrics: Metrics): Finding {
  const name = 'event loop';
  const seconds = metrics.max('nodejs_eventloop_lag_p99_seconds');
  const says = `99 % of its turns are at most ${Math.ceil(seconds * 1_000)} ms late`;
  if (seconds <= maxLagSeconds) return ok(name, says);
  return doubtful(name, says, 'one processor is not enough: add an instance');
}

/** The samples of one scrape. */
class Metrics {
  readonly #samples: readonly Sample[];

  constructor(text: string) {
    this.#samples = text.split('\n').flatMap((line) => parseSample(line) ?? []);
  }

  named(name: string, labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    const wanted = Object.entries(labels);
    return this.#samples.filter(
      (sample) =>
        sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
    );
  }

  sum(name: string, labels?: Readonly<Record<string, string>>): number {
    return this.named(name, labels).reduce((total, { value }) => total + value, 0);
  }

  max(name: string): number {
    return Math.max(0, ...this.named(name).map(({ value }) => value));
  }

  /** @returns the upper bound of the bucket of a quantile in seconds; null without samples. */
  quantile(name: string, q: number, counts: (labels: Sample['labels']) => boolean): number | null {
    const buckets = new Map<number, number>();
    for (const { labels, value } of this.named(`${name}_bucket`)) {
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      if (counts(labels)) buckets.set(bound, (buckets.get(bound) ?? 0) + value);
    }
    const total = buckets.get(Infinity) ?? 0;
    if (total === 0) return null;
    const bounds = [...buckets.keys()].toSorted((one, other) => one - other);
    return bounds.find((bound) => (buckets.get(bound) ?? 0) >= q * total) ?? null;
  }
}

function parseSample(line: string): Sample | null {
  const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) return null;
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]);
  return { name, labels: Object.fromEntries(pairs) as Sample['labels'], value: Number(value) };
}
