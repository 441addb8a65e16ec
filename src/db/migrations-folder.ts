import { fileURLToPath } from 'node:url';

/** Where the migrations are, a file each. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));
