import { dialectNames } from '../../src/config/formats.ts';
import { openDialects } from '../../src/provider/dialect/load.ts';

/** All dialects of this project, as in local and test. */
export const dialects = openDialects({ names: dialectNames, files: [] });
