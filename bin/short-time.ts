/** A point in time for people: UTC, to the second. */
export function shortTime(iso: string | null): string | null {
  return iso && `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}
