/**
 * The configuration of MikroORM's command line, which generates migrations from the entities
 * (`npm run migration:create`). It compares the entities with the committed snapshot and needs no
 * database. The service uses the same options, from src/db/orm.ts.
 */
import { ormOptions } from './src/db/orm.ts';

export default ormOptions({ dbName: 'ponte' });
