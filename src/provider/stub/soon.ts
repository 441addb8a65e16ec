/**
 * What is there at once where there is nothing to wait for, and later otherwise. A bank without a
 * journal answers at once, so that what is measured around it is not its waiting.
 */
export type Soon<T> = T | Promise<T>;

/** Goes on with a value, at once where it is there. */
export function afterwards<T, R>(value: Soon<T>, goOn: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
