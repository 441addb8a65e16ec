/** Compares the on-call chapter with the code: its metrics, its alarms, its commands. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { loadProgram } from '../../bin/program.ts';
import { breakerStates, createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { providerLanes } from '../../src/provider/resilience/call-policy.ts';
import { addReadings, type BacklogGauges } from '../../src/telemetry/metrics-gauges.ts';
import { root } from '../system/service-process.ts';
import { splitSections, tablesIn } from './document.ts';

const handbook = readFileSync(join(root, 'src', 'operator', 'README.md'), 'utf8');
const sections = splitSections(handbook);

/** The text under a heading. */
function under(heading: string): string {
  const section = sections.find((one) => one.heading === heading);
  assert.ok(section, `the handbook has no heading "${heading}"`);
  return section.text;
}

/** The chapter with its sections. */
function chapter(): string {
  const from = sections.findIndex(({ heading }) => heading === 'Operate');
  const to = sections.findIndex(({ heading }) => heading === 'Security');
  assert.ok(from >= 0 && to > from);
  return sections
    .slice(from, to)
    .map(({ text }) => text)
    .join('\n');
}

const backlog: BacklogGauges = {
  jobs: ['due', 'later', 'running', 'dead'].map((state) => ({
    kind: 'any',
    state,
    jobs: 1,
    failing: 1,
  })),
  oldestDueSeconds: 1,
  events: { received: 1, parked: 1, orphaned: 1, anomaly: 1 },
  unknownPayments: 1,
  oldestUnknownSeconds: 1,
  oldestAcceptedSeconds: 1,
  overduePayments: 1,
  differences: { new: 1, old: 1 },
  isPaused: true,
  unaccountedPayments: 1,
  oldestDisputeSeconds: { requested: 1, open: 1 },
};

/** The metrics of a service whose database gives this, or does not answer. */
function metricsWith(given: BacklogGauges | null): Metrics {
  const metrics = createMetrics();
  for (const lane of providerLanes) metrics.breakerState.set({ lane }, breakerStates.closed);
  addReadings(metrics, {
    connections: () => ({ busy: 1, idle: 1, waiting: 1 }),
    notificationsUp: () => true,
    hashing: () => ({ running: 1, waiting: 1 }),
    waitingLogins: () => ({ customers: 1, strangers: 1 }),
    backlog: async () => given,
  });
  return metrics;
}

/** A metric as the table names it: `ponte_job_queue{state="dead"}`. */
interface Named {
  readonly name: string;
  readonly label: string | undefined;
  readonly operator: string | undefined;
  readonly value: string | undefined;
  readonly isOfDatabase: boolean;
}

function alarms(): Named[] {
  const [table] = tablesIn(under('Metrics and alarms'));
  assert.ok(table && table.length > 10);
  return table.map((row) => {
    assert.ok(row.length === 3 && !row.includes(''), row.join());
    const [, name = '', label, operator, value, star] =
      /^`([a-z_0-9]+)(?:\{([a-z_]+)(!?=)"(\w+)"\})?`( \*)?$/.exec(row[0] ?? '') ?? [];
    assert.ok(name, row.join());
    return { name, label, operator, value, isOfDatabase: star !== undefined };
  });
}

/** The samples that a scrape gives, without their values. */
async function readSamples(metrics: Metrics): Promise<string[]> {
  const text = await metrics.registry.metrics();
  return text.split('\n').flatMap((line) => {
    const [, sample] = /^([a-z]\S+) /.exec(line) ?? [];
    return sample === undefined ? [] : [sample];
  });
}

/** The values that a label may have, where code decides them. */
const labelValues: Readonly<Record<string, readonly string[]>> = {
  status: ['500'],
  status_class: ['5xx'],
  result: ['received'],
  code: ['none'],
};

describe('the alarms of the handbook', () => {
  it('are on metrics that are exported, with the labels that they have', async () => {
    const metrics = metricsWith(backlog);
    metrics.requests.observe({ operation: 'any', status: '500' }, 1);
    metrics.providerCalls.observe({ method: 'any', status_class: '5xx' }, 1);
    metrics.webhookEvents.inc({ result: 'received' });
    metrics.webhookRefusals.inc({ reason: 'wrong_secret' });
    metrics.stuckJobs.inc({ kind: 'any' });
    metrics.unreadEvents.inc({ reason: 'unknown_shape' });
    metrics.unknownResponses.inc({ status: '422', code: 'other' });
    const samples = await readSamples(metrics);
    for (const { name, label, operator, value } of alarms()) {
      const shown = operator === '=' ? `${value}"` : '';
      const labelled = label === undefined ? '' : `${label}="${shown}`;
      const found = samples.filter(
        (sample) => sample.replace(/\{.*/, '') === name && sample.includes(labelled),
      );
      assert.ok(found.length > 0, `${name} {${labelled}} is not exported`);
      const known = label === undefined ? undefined : labelValues[label];
      assert.ok(!known || known.includes(value ?? ''), `${value} is not looked for here`);
    }
  });

  it('mark with * what is missing when the database does not answer', async () => {
    const names = new Set((await readSamples(metricsWith(null))).map((one) => one.split('{')[0]));
    const missing = (await metricsWith(null).registry.getMetricsAsJSON())
      .filter(({ values, type }) => type.toString() === 'gauge' && values.length === 0)
      .map(({ name }) => name)
      .filter((name) => name.startsWith('ponte_'));
    const starred = alarms().filter(({ isOfDatabase }) => isOfDatabase);
    assert.deepEqual([...new Set(starred.map(({ name }) => name))].sort(), missing.sort());
    assert.ok(names.has('ponte_metrics_database_up'));
  });

  it('describe every metric of the service', () => {
    const text = under('Metrics and alarms');
    const exported = metricsWith(backlog).registry.getMetricsAsArray();
    const own = exported.map(({ name }) => name).filter((name) => name.startsWith('ponte_'));
    assert.ok(own.length > 15);
    assert.deepEqual(
      own.filter((name) => !text.includes(name)),
      [],
    );
  });
});

const monitoring = join(root, 'src', 'operator', 'monitoring');

/** The expressions of the alert rules and of the dashboard, by their titles. */
function expressions(): { title: string; expr: string }[] {
  const rules = parse(readFileSync(join(monitoring, 'alerts.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const board = JSON.parse(readFileSync(join(monitoring, 'dashboard.json'), 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return [
    ...rules.groups.flatMap((group) =>
      group.rules.map(({ alert, expr }) => ({ title: alert, expr })),
    ),
    ...board.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ title, expr })),
    ),
  ];
}

/** The metrics of an expression, each with its matchers. */
function selectorsIn(expr: string): { name: string; matchers: string }[] {
  const found = expr.matchAll(/\b((?:ponte|nodejs|process)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', matchers = '']) => ({ name, matchers }));
}

describe('the alert rules and the dashboard', () => {
  const { registry } = metricsWith(backlog);
  const findMetric = (name: string) =>
    registry.getSingleMetric(name) ??
    registry.getSingleMetric(name.replace(/_(?:count|bucket|sum)$/, ''));
  const listLabels = (name: string): readonly string[] => {
    const { labelNames = [] } = (findMetric(name) ?? {}) as { labelNames?: readonly string[] };
    return name.endsWith('_bucket') ? [...labelNames, 'le'] : labelNames;
  };
  const contractText = readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8');
  const operations = [...contractText.matchAll(/operationId: (\w+)/g)].map(([, id = '']) => id);
  /** The values of labels; a label that is not here has a value of the outside. */
  const values: Readonly<Record<string, readonly string[]>> = {
    operation: operations,
    lane: providerLanes,
    state: [
      'old',
      'dead',
      'received',
      'parked',
      'orphaned',
      'anomaly',
      'waiting',
      'requested',
      'open',
    ],
    status: ['500'],
    status_class: ['5xx', 'timeout', 'reset', 'connect'],
    result: ['received'],
    share: ['half', 'whole'],
    code: ['none'],
  };

  for (const { title, expr } of expressions()) {
    it(`${title}: uses metrics and labels that are exported`, () => {
      const selectors = selectorsIn(expr);
      assert.ok(selectors.length > 0, expr);
      for (const { name, matchers } of selectors) {
        assert.ok(findMetric(name), `${name} is not exported`);
        for (const [, label = '', , text = ''] of matchers.matchAll(/(\w+)([!=~]+)"([^"]*)"/g)) {
          assert.ok(listLabels(name).includes(label), `${name} has no label ${label}`);
          const unknown = text.split('|').filter((value) => !values[label]?.includes(value));
          assert.deepEqual(unknown, [], `${name}{${label}}`);
        }
      }
      const known = ['instance', ...selectors.flatMap(({ name }) => listLabels(name))];
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
        names.split(', '),
      );
      assert.deepEqual(
        grouped.filter((label) => !known.includes(label)),
        [],
      );
    });
  }

  it('see what is counted for the first time: from zero, or as a new series', async () => {
    const metrics = metricsWith(backlog);
    // As the service does at its start.
    metrics.webhookRefusals.inc({ reason: 'wrong_secret' }, 0);
    const samples = await readSamples(metrics);
    const isZero = ({ name, matchers }: { name: string; matchers: string }): boolean =>
      samples.some((one) => one.startsWith(name) && one.includes(matchers));
    const unseen = expressions()
      .filter(({ title, expr }) => title.startsWith('Ponte') && expr.includes('increase('))
      .filter(({ expr }) => !expr.includes(' unless ') && !selectorsIn(expr).every(isZero));
    assert.deepEqual(unseen, []);
  });

  it('have a rule for each alarm of the table', () => {
    const rules = expressions().filter(({ title }) => title.startsWith('Ponte'));
    const missing = alarms().filter(
      ({ name, label, operator, value }) =>
        !rules.some(({ expr }) =>
          selectorsIn(expr).some(
            (one) =>
              one.name === name &&
              (label === undefined ||
                new RegExp(`${label}${operator}~?"${value}`).test(one.matchers)),
          ),
        ),
    );
    assert.deepEqual(missing, []);
  });
});

const { stdin, stdout, stderr } = process;
const program = await loadProgram({ streams: { stdin, stdout, stderr }, version: '0.0.0' }, 'all');

describe('the commands that the chapter tells to run', () => {
  const commands = [...chapter().matchAll(/`(?:npx )?ponte ([^`]+)`/g)].map(
    ([, line = '']) => line,
  );

  it('are those of every trouble', () => {
    for (const wanted of [
      'doctor',
      'jobs list',
      'jobs list --failing',
      'user show',
      'pix list --email',
      'jobs stats',
      'jobs retry',
      'webhook list',
      'webhook show',
      'webhook replay --dry-run',
      'pix list --stuck',
      'pix show',
      'pix resolve',
      'pix audit',
      'keys rotate-help',
    ]) {
      assert.ok(
        commands.some((line) => line.startsWith(wanted)),
        wanted,
      );
    }
  });

  for (const line of new Set(commands)) {
    it(`ponte ${line}: exists, with its options`, () => {
      const words = line.split(' ');
      let command: Command = program;
      for (const word of words) {
        const next = command.commands.find((one) => one.name() === word);
        if (!next) break;
        command = next;
      }
      assert.notEqual(command, program);
      const options = new Map(command.options.map((option) => [option.long, option]));
      for (const [place, word] of words.entries()) {
        if (!word.startsWith('--')) continue;
        const option = options.get(word);
        assert.ok(option, `${command.name()} has no ${word}`);
        const choice = option.argChoices?.includes(words[place + 1] ?? '') ?? true;
        assert.ok(choice, `${word} cannot be ${words[place + 1]}`);
      }
      const given = words.some((word, place) => {
        const option = options.get(words[place - 1] ?? '');
        return word.startsWith('<') && !(option?.required ?? false);
      });
      assert.ok(!given || command.registeredArguments.length > 0, 'it takes no id');
    });
  }
});
