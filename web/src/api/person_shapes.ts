// Who looks at the page, as the server answers it. Times are milliseconds since the epoch.

/** What a login is answered. */
export interface Login {
  token: string;
  name: string;
  expires: number;
}

export interface Me {
  role: "agent" | "hook" | "relay" | "operator" | "viewer";
  name: string;
  /** The name of the token that opened this dashboard. */
  person: string | null;
  version: string;
  store: string;
}
