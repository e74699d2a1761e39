// Who looks at the page, as the server answers it. Times are milliseconds since the epoch.
import type * as api from "./generated.ts";

/** What a login is answered. */
export type Login = api.LoginAnswer;

export type Me = Omit<api.Me, "role"> & { role: "agent" | "hook" | "relay" | "operator" | "viewer" };
