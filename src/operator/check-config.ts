/** Reports the settings, and whether what they name can be used. */
import { ConfigError, loadConfig, type Environment } from '../config/config.ts';
import { reportConfig, type ConfigReport } from '../config/report.ts';
import { configuredDialects } from '../provider/configured-dialects.ts';

/**
 * Reports every setting of an environment. With valid settings it opens the dialects, as a start
 * does.
 * @param fromDotEnv the names whose value comes from the `.env` file.
 */
export function checkConfig(
  environment: Environment,
  fromDotEnv?: ReadonlySet<string>,
): ConfigReport {
  const report = reportConfig(environment, fromDotEnv);
  if (!report.valid) return report;
  try {
    configuredDialects(loadConfig(environment));
    return report;
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
