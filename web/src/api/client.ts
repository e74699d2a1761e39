// One way to ask the server. What goes wrong becomes an error with words for a person.
import { dashboardToken } from "./dashboard_token.ts";

export class Problem extends Error {
  readonly status: number;
  readonly extra: Record<string, unknown>;

  constructor(status: number, message: string, extra: Record<string, unknown> = {}) {
    super(message);
    this.status = status;
    this.extra = extra;
  }
}

/** The server can't be reached at all, as opposed to an answer that refuses. */
export class Unreachable extends Error {
  constructor() {
    super("The server does not answer. Is `sprag serve` running?");
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** Told once when an answer says that nobody is logged in any more. */
let whenLoggedOut: () => void = () => {};
export function onLoggedOut(tell: () => void): void {
  whenLoggedOut = tell;
}

export function address(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** A path with its variable parts made safe: ids may hold slashes. */
export function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return parts.reduce((all, part, n) => all + encodeURIComponent(ids[n - 1] ?? "") + part);
}

/** Asks and returns the answer as it comes, for what is read piece by piece. */
export async function request(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  const token = dashboardToken.get();
  if (token !== null) headers["authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(url, {
      method,
      headers,
      // The header is all that proves anything. No cookie is ever sent or taken.
      credentials: "omit",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreachable();
  }
  if (answer.ok) return answer;
  const problem = await told(answer);
  if (answer.status === 401 && !url.startsWith("/v1/login")) whenLoggedOut();
  throw problem;
}

async function ask<T>(method: string, url: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await request(method, url, body, signal);
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T);
}

/** Fetches a file with the token and hands it to the browser to save. */
export async function download(url: string, name: string): Promise<void> {
  const answer = await request("GET", url);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  // The browser has taken it over by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

async function told(answer: Response): Promise<Problem> {
  const text = await answer.text();
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const words = [body["title"], body["detail"]].filter((word) => typeof word === "string" && word !== "");
    return new Problem(answer.status, [...new Set(words)].join(": ") || `status ${answer.status}`, body);
  } catch {
    return new Problem(answer.status, `The server answered with status ${answer.status}.`);
  }
}

export function get<T>(url: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>("GET", address(url, query), undefined, signal);
}

export function post<T>(url: string, body: unknown = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>("POST", url, body, signal);
}

export function remove(url: string): Promise<void> {
  return ask<void>("DELETE", url, undefined);
}

export function put<T>(url: string, body: unknown): Promise<T> {
  return ask<T>("PUT", url, body);
}

/** The words of whatever was thrown; none where the question itself was given up. */
export function words(error: unknown): string | null {
  if (error instanceof DOMException && error.name === "AbortError") return null;
  return error instanceof Error ? error.message : String(error);
}
