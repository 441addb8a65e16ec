import { Migration } from '@mikro-orm/migrations';

/**
 * The database says when an operator's action was recorded, and by which role.
 */
export class Migration20261125143504_operator_actions_stamped extends Migration {
  override name = 'Migration20261125143504_operator_actions_stamped';

  override up(): void {
    this.addSql(`alter table "operator_actions" add "database_user" text null;`);
    this.addSql(
      `create or replace function "operator_actions_operator_actions_stamped_fn"() returns trigger as \$\$ begin new.at := clock_timestamp(); new.database_user := session_user; return new; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "operator_actions_stamped" BEFORE INSERT on "operator_actions" for each ROW execute function "operator_actions_operator_actions_stamped_fn"();`,
    );
  }

  override down(): void {
    this.addSql(`drop trigger if exists "operator_actions_stamped" on "operator_actions";`);
    this.addSql(`drop function if exists "operator_actions_operator_actions_stamped_fn"();`);
    this.addSql(`alter table "operator_actions" drop column "database_user";`);
  }
}
