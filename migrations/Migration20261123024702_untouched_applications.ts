import { OnlineMigration } from '../src/db/online-migration.ts';

/** How applications that go nowhere are found. */
export class Migration20261123024702_untouched_applications extends OnlineMigration {
  override name = 'Migration20261123024702_untouched_applications';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'onboarding_applications_untouched',
      on: `"onboarding_applications" ("updated_at") where "status" <> 'APPROVED'`,
    });
  }

  override down(): void {
    this.dropIndex('onboarding_applications_untouched');
  }
}
