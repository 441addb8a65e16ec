/** The seconds since something began. */
import { useEffect, useState } from 'react';

/** @returns the whole seconds since `what` was named first; 0 while nothing is. */
export function useElapsed(what: string | null): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (what === null) return undefined;
    const startedAt = performance.now();
    const count = (): void => setSeconds(Math.floor((performance.now() - startedAt) / 1_000));
    const timer = setInterval(count, 1_000);
    return () => clearInterval(timer);
  }, [what]);
  return seconds;
}
