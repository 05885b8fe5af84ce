/** What can go wrong, so that a page can say it in its own words. */
export type Trouble =
  | "no-webgpu"
  | "not-a-figure"
  | "newer-version"
  | "damaged"
  | "too-large"
  | "refused"
  | "bad-pose"
  | "device-lost";

/** Bad input or a missing ability, told in one readable message: what is wrong, and how to mend it. */
export class EcorcheError extends Error {
  constructor(
    readonly trouble: Trouble,
    readonly what: string,
    readonly remedy: string,
  ) {
    super(`${what}. ${remedy}.`);
    this.name = "EcorcheError";
  }
}
