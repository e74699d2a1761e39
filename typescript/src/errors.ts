/** What can go wrong, by who has to do something about it. */

import type { Verdict } from "./verdict.js";

/** Every error of this package. */
export class SpragError extends Error {
  override name = "SpragError";
}

/** The guard can't be used as it is set up: no binary, another version, another user's socket. */
export class SetupError extends SpragError {
  override name = "SetupError";
}

/** The guard did not answer. Sessions turn this into a verdict by their `fail` mode. */
export class NoVerdict extends SpragError {
  override name = "NoVerdict";
}

/** Nobody listens at the guard's address. */
export class Absent extends NoVerdict {
  override name = "Absent";
}

/** The guard answered that what it was sent is not a valid event. */
export class EventRejected extends SpragError {
  override name = "EventRejected";
}

/** A call or message may not happen. `verdict` has the reason; the error's message is for the model. */
export class Refused extends SpragError {
  override name = "Refused";

  constructor(readonly verdict: Verdict) {
    super(verdict.text);
  }
}
