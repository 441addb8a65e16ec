/** Chooses the language of a response. */
import type { Locale } from '../errors.ts';

/** Skips the parsing for callers that do not mention Portuguese. */
const MENTIONS_PORTUGUESE = /(?:^|[\s,])pt(?:$|[\s,;-])/i;

/**
 * Reads `Accept-Language` (RFC 9110, section 12.5.4).
 *
 * @returns `pt` when Portuguese, of any country, is preferred to English by its q-value or, between
 *   equals, by coming first; otherwise `en`.
 */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined || !MENTIONS_PORTUGUESE.test(acceptLanguage)) return 'en';
  const ranges = acceptLanguage.split(',').map(readRange);
  const portuguese = best(ranges, 'pt');
  const english = best(ranges, 'en') ?? best(ranges, '*');
  if (portuguese === undefined || portuguese.quality === 0) return 'en';
  return english === undefined || isPreferred(portuguese, english) ? 'pt' : 'en';
}

interface Range {
  readonly language: string;
  readonly quality: number;
  readonly position: number;
}

function readRange(text: string, position: number): Range {
  const [tag = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  // An invalid weight counts as 0.
  return {
    language: tag.split('-', 1)[0] ?? '',
    quality: quality >= 0 && quality <= 1 ? quality : 0,
    position,
  };
}

function best(ranges: readonly Range[], language: string): Range | undefined {
  return ranges
    .filter((range) => range.language === language)
    .reduce<Range | undefined>(
      (winner, range) => (winner && !isPreferred(range, winner) ? winner : range),
      undefined,
    );
}

function isPreferred(one: Range, other: Range): boolean {
  return one.quality === other.quality
    ? one.position < other.position
    : one.quality > other.quality;
}
