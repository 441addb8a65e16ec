import { fileURLToPath } from 'node:url';

/** The folder of the migrations; in its own file, because MikroORM's options need it too. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));
