/**
 * What one process has once, although `import` and `require` each load a copy of this package: the entered session, the
 * guard of adapters that got none, and the runs of each guard.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** The session that the running code belongs to, and the call that it runs in, if any. */
export interface Entered {
  session: unknown;
  call: string;
}

interface Shared {
  entered: AsyncLocalStorage<Entered>;
  defaultGuard: unknown;
  runs: WeakMap<object, unknown>;
}

const KEY = Symbol.for("sprag.shared.0");
const holder = globalThis as unknown as Record<symbol, Shared | undefined>;

/** The one of this process. */
export const shared: Shared = (holder[KEY] ??= {
  entered: new AsyncLocalStorage<Entered>(),
  defaultGuard: undefined,
  runs: new WeakMap(),
});
