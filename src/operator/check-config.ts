/** Reports the settings, and whether what they name can be used. */
import { ConfigError, loadConfig, type Environment } from '../config/config.ts';
import { reportConfig, type ConfigReport } from '../config/report.ts';
import { hasOwnSessions, sharedSessions } from '../db/own-sessions.ts';
import { configuredDialects } from '../provider/configured-dialects.ts';

/**
 * Reports every setting of an environment. With valid settings it opens the dialects and checks the
 * sessions of the database, as a start does. A database that cannot be reached is no fault: a start
 * waits for it.
 * @param fromDotEnv the names whose value comes from the `.env` file.
 */
export async function checkConfig(
  environment: Environment,
  fromDotEnv?: ReadonlySet<string>,
): Promise<ConfigReport> {
  const report = reportConfig(environment, fromDotEnv);
  if (!report.valid) return report;
  try {
    const config = loadConfig(environment);
    configuredDialects(config);
    const { databaseUrl } = config;
    if (databaseUrl === undefined) return report;
    const isUsable = await hasOwnSessions(databaseUrl).catch(() => true);
    return isUsable
      ? report
      : withFaults(report, [{ name: 'DATABASE_URL', message: sharedSessions }]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return withFaults(report, error.faults);
  }
}

function withFaults(report: ConfigReport, faults: ConfigReport['faults']): ConfigReport {
  const settings = report.settings.map((setting) => {
    const fault = faults.find(({ name }) => name === setting.name);
    return fault === undefined ? setting : { ...setting, value: null, fault: fault.message };
  });
  return { valid: false, settings, faults };
}
