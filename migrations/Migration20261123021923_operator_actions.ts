import { Migration } from '@mikro-orm/migrations';

export class Migration20261123021923_operator_actions extends Migration {

  override name = 'Migration20261123021923_operator_actions';

  override up(): void | Promise<void> {
    this.addSql(`create table "operator_actions" ("id" bigserial primary key, "at" timestamptz(3) not null, "operator" text not null, "command" text not null, "target" text not null, "reason" text null, "outcome" text not null);`);
    this.addSql(`create index "operator_actions_target" on "operator_actions" ("target");`);

    this.addSql(`create or replace function "operator_actions_operator_actions_append_only_fn"() returns trigger as \$\$ begin raise exception 'operator actions are only added to' using errcode = 'check_violation'; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "operator_actions_append_only" BEFORE UPDATE OR DELETE on "operator_actions" for each ROW execute function "operator_actions_operator_actions_append_only_fn"();`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "operator_actions_append_only" on "operator_actions";`);
    this.addSql(`drop function if exists "operator_actions_operator_actions_append_only_fn"();`);
    this.addSql(`drop table if exists "operator_actions" cascade;`);
  }

}
