/** Chooses the language and the encoding of a reply from the client's preferences. */
import type { Locale } from '../errors.ts';

/** Skips the parsing for callers that do not mention Portuguese. */
const mentionsPortuguese = /(?:^|[\s,])pt(?:$|[\s,;_-])/i;

/**
 * Reads `Accept-Language` (RFC 9110, section 12.5.4). Some clients send the name of a locale,
 * `pt_BR`.
 *
 * @returns `pt` when Portuguese, of any country, is preferred to English by its weight or, between
 *   equals, by coming first; otherwise `en`.
 */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined || !mentionsPortuguese.test(acceptLanguage)) return 'en';
  // The sort is stable, so equal weights keep the order of the header.
  const languages = readPreferences(acceptLanguage).toSorted(
    (one, other) => other.weight - one.weight,
  );
  const find = (name: string) => languages.find((one) => one.name.split(/[-_]/, 1)[0] === name);
  const portuguese = find('pt');
  const english = find('en') ?? find('*');
  if (portuguese === undefined || portuguese.weight === 0) return 'en';
  if (english === undefined) return 'pt';
  return languages.indexOf(portuguese) < languages.indexOf(english) ? 'pt' : 'en';
}

/**
 * Reads `Accept-Encoding` (RFC 9110, section 12.5.3).
 *
 * @param supported in the order of preference.
 * @returns the supported encoding with the highest weight; undefined when none is accepted.
 */
export function preferredEncoding<Encoding extends string>(
  acceptEncoding: string,
  supported: readonly Encoding[],
): Encoding | undefined {
  const weights = new Map(
    readPreferences(acceptEncoding).map(({ name, weight }) => [name, weight]),
  );
  const getWeight = (encoding: Encoding): number => weights.get(encoding) ?? weights.get('*') ?? 0;
  const [best] = supported.toSorted((one, other) => getWeight(other) - getWeight(one));
  return best !== undefined && getWeight(best) > 0 ? best : undefined;
}

interface Preference {
  /** In lower case. */
  readonly name: string;
  /** 0 to 1; an invalid weight counts as 0. */
  readonly weight: number;
}

function readPreferences(header: string): Preference[] {
  return header.split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    return { name, weight: weight >= 0 && weight <= 1 ? weight : 0 };
  });
}
