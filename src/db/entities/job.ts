import { defineEntity, p } from '@mikro-orm/core';
import { instant, isOneOf } from './columns.ts';

/** A unit of background work. A lease protects it while it runs. */
export const Job = defineEntity({
  name: 'Job',
  tableName: 'jobs',
  properties: {
    id: p.bigint().primary(),
    kind: p.text(),
    payload: p.json<Readonly<Record<string, unknown>>>(),
    /** Unique among the jobs that have not ended. */
    uniqueKey: p.text().nullable(),
    status: p.text().$type<'queued' | 'running' | 'done' | 'dead'>(),
    runAt: instant(),
    attempts: p.integer().default(0),
    leasedUntil: instant().nullable(),
    leasedBy: p.text().nullable(),
    /** Whether the job was requested again while it ran: it is then run once more. */
    wanted: p.boolean().default(false),
    /** The name of the last error; never its values. */
    lastError: p.text().nullable(),
    createdAt: instant(),
    finishedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'jobs_due',
      expression: 'create index "jobs_due" on "jobs" ("run_at", "id") where "status" = \'queued\'',
    },
    {
      name: 'jobs_dead',
      expression: 'create index "jobs_dead" on "jobs" ("id") where "status" = \'dead\'',
    },
    {
      name: 'jobs_leases',
      expression:
        'create index "jobs_leases" on "jobs" ("leased_until") where "status" = \'running\'',
    },
    {
      name: 'jobs_finished',
      expression:
        'create index "jobs_finished" on "jobs" ("finished_at") where "finished_at" is not null',
    },
    {
      name: 'jobs_unique_open',
      expression:
        'create unique index "jobs_unique_open" on "jobs" ("unique_key") where "unique_key" is not null and "status" in (\'queued\', \'running\')',
    },
  ],
  checks: [
    {
      name: 'jobs_status_known',
      expression: isOneOf('status', ['queued', 'running', 'done', 'dead']),
    },
    {
      name: 'jobs_lease_while_running',
      expression:
        "(status = 'running') = (leased_until is not null) and (status = 'running') = (leased_by is not null)",
    },
  ],
});
