/**
 * For MikroORM's own command line, which makes migrations from the entities
 * (`npm run migration:create`). The service takes the same options from src/db/orm.ts; migrations
 * are made by comparing the entities with the committed snapshot, so no database is needed.
 */
import { ormOptions } from './src/db/orm.ts';

export default ormOptions({ dbName: 'ponte' });
