// Who looks at the page, and what kind of server this is.
import { Problem, get, onLoggedOut, post, remove, words } from "../api/client.ts";
import { dashboardToken } from "../api/dashboard_token.ts";
import type { Login, Me } from "../api/person_shapes.ts";
import type { Panic, Pause } from "../api/shapes.ts";
import { stream } from "../live/stream.svelte.ts";

export type Standing = "asking" | "operator" | "stranger" | "unreachable";

class Who {
  standing = $state<Standing>("asking");
  me = $state.raw<Me | null>(null);
  /** Whether whoever looks may give orders; a viewer may not. */
  may = $derived(this.me?.role === "operator");
  /** What was wrong with the link that led here. */
  linkProblem = $state<string | null>(null);
  /** When the pause that is in force ends. */
  pausedUntil = $state<number | null>(null);
  /** The panic that is in force. */
  panic = $state.raw<Panic | null>(null);

  constructor() {
    onLoggedOut(() => this.#become("stranger"));
    // A link that is opened in a tab with this very page changes nothing but the fragment.
    addEventListener("hashchange", () => void this.#useLink());
  }

  /** Uses the link that led here, if one did: its code is exchanged for a token, and leaves the address and the history at once. */
  async begin(): Promise<void> {
    if (!(await this.#useLink())) await this.ask();
  }

  /** Whether the address held a code that logged in. */
  async #useLink(): Promise<boolean> {
    const code = new URLSearchParams(location.hash.slice(1)).get("code");
    if (code === null) return false;
    history.replaceState(null, "", location.pathname + location.search);
    this.linkProblem = await this.#login({ code });
    return this.linkProblem === null;
  }

  async ask(): Promise<void> {
    try {
      const me = await get<Me>("/v1/me");
      this.me = me;
      this.#become(me.role === "operator" || me.role === "viewer" ? "operator" : "stranger");
    } catch (error) {
      const refused = error instanceof Problem && (error.status === 401 || error.status === 403);
      this.#become(refused ? "stranger" : "unreachable");
    }
  }

  /** Answers what is wrong with the token, none when it was right. */
  login(token: string): Promise<string | null> {
    return this.#login({ token: token.trim() });
  }

  async #login(proof: { code: string } | { token: string }): Promise<string | null> {
    try {
      dashboardToken.set((await post<Login>("/v1/login", proof)).token);
    } catch (error) {
      if (error instanceof Problem && error.status === 401 && "token" in proof) return "This is not the token of an operator or a viewer.";
      return error instanceof Problem ? String(error.extra["detail"] ?? error.message) : words(error);
    }
    await this.ask();
    return this.standing === "operator" ? null : "This token is neither an operator's nor a viewer's.";
  }

  async logout(): Promise<void> {
    try {
      await remove("/v1/login");
    } finally {
      this.#become("stranger");
    }
  }

  #become(standing: Standing): void {
    this.standing = standing;
    if (standing !== "operator") {
      if (standing === "stranger") dashboardToken.forget();
      stream.stop();
      return;
    }
    stream.start();
    void this.learn();
  }

  async learn(): Promise<void> {
    try {
      this.pausedUntil = (await get<Pause>("/v1/pause")).until;
    } catch {
      this.pausedUntil = null;
    }
    try {
      const panic = await get<Panic>("/v1/panic");
      this.panic = panic.panic ? panic : null;
    } catch {
      this.panic = null;
    }
  }
}

export const who = new Who();
