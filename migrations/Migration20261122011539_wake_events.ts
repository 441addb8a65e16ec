import { Migration } from '@mikro-orm/migrations';

/** Written by hand: the tool's snapshot knows no functions. */
export class Migration20261122011539_wake_events extends Migration {

  override name = 'Migration20261122011539_wake_events';

  /**
   * The jobs of the events that wait for one of some ids are looked at again from `at` on. They are
   * locked in one order, so that no two calls wait for each other. A job that runs is asked for
   * once more, because it may have looked before the ids were there.
   */
  override up(): void | Promise<void> {
    this.addSql(`
      create function wake_events(ids text[], at timestamptz) returns void language plpgsql as $$
      begin
        update jobs set wanted = status = 'running',
                        run_at = case when status = 'queued' then least(run_at, at) else run_at end
          from (select job.id as woken_id
                  from webhook_waits wait
                  join jobs job on job.unique_key = 'webhook:' || wait.event_id
                               and job.status in ('queued', 'running')
                 where wait.id_value = any(ids)
                 order by job.id for update of job) waiting
         where id = woken_id and status in ('queued', 'running');
        if found then
          perform pg_notify('ponte_jobs', '');
        end if;
      end $$;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop function wake_events(text[], timestamptz);`);
  }

}
