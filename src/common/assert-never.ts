/** Makes the compiler finish a list: a `switch` over a union ends with `default: return assertNever(value)`. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
