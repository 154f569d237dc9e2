// What the page uses of the directive `repeat`: a list whose elements follow their keys.
export function repeat<T>(
  items: Iterable<T>,
  key: (item: T, index: number) => unknown,
  template: (item: T, index: number) => unknown,
): unknown;
