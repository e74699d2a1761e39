// Where the page is: the path says which page, the query holds its filters. Both live in the address,
// so that every view can be shared, reloaded and gone back to.

export type RouteName = "overview" | "stops" | "stop" | "sessions" | "session" | "agents" | "agent" | "flows" | "flow" | "spend" | "rules" | "notifications" | "policy" | "log" | "unknown";

export interface Route {
  name: RouteName;
  id: string;
}

function parse(path: string): Route {
  const [, first = "", ...rest] = path.split("/");
  const id = decode(rest.join("/"));
  if (first === "") return { name: "overview", id: "" };
  if (first === "sessions") return { name: id ? "session" : "sessions", id };
  if (first === "stops") return { name: id ? "stop" : "stops", id };
  if (first === "agents") return { name: id ? "agent" : "agents", id };
  if (first === "flows") return { name: id ? "flow" : "flows", id };
  if (first === "rules") return { name: "rules", id };
  if (first === "policy" || first === "log" || first === "spend" || first === "notifications") return { name: first, id: "" };
  return { name: "unknown", id: path };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

class Router {
  #path = $state(location.pathname);
  #search = $state(location.search);
  route = $derived(parse(this.#path));
  query = $derived(new URLSearchParams(this.#search));

  constructor() {
    addEventListener("popstate", () => this.#read());
  }

  #read(): void {
    this.#path = location.pathname;
    this.#search = location.search;
  }

  go(to: string): void {
    history.pushState(null, "", to);
    this.#read();
    scrollTo(0, 0);
  }

  get(name: string, otherwise = ""): string {
    return this.query.get(name) ?? otherwise;
  }

  /** Changes some of the query in place; an empty value removes its name. */
  set(values: Record<string, string | number | null>, keepInHistory = false): void {
    const query = new URLSearchParams(location.search);
    // Another question starts on its first page.
    if (!("skip" in values) && !("at" in values)) query.delete("skip");
    for (const [name, value] of Object.entries(values)) {
      if (value === null || value === "") query.delete(name);
      else query.set(name, String(value));
    }
    const text = query.toString();
    const search = text ? `?${text}` : "";
    if (search === location.search) return;
    const to = location.pathname + search;
    if (keepInHistory) history.pushState(null, "", to);
    else history.replaceState(null, "", to);
    this.#read();
  }
}

export const router = new Router();

/** Follows links of our own without loading the page anew. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (parse(link.pathname).name === "unknown") return;
  event.preventDefault();
  router.go(link.pathname + link.search);
}

export const to = {
  session: (id: string, seq?: number) => `/sessions/${encodeURIComponent(id)}${seq === undefined ? "" : `?at=${seq}`}`,
  flow: (id: string, seq?: number) => `/flows/${encodeURIComponent(id)}${seq === undefined ? "" : `?at=${seq}`}`,
  stops: (group: string) => `/stops/${encodeURIComponent(group)}`,
  agent: (name: string) => `/agents/${encodeURIComponent(name)}`,
  sessions: (query: Record<string, string>) => `/sessions?${new URLSearchParams(query)}`,
  log: (query: Record<string, string>) => `/log?${new URLSearchParams(query)}`,
};
