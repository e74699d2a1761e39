// Who looks at the page, and what kind of server this is.
import { Problem, get, onLoggedOut, post, remove, words } from "../api/client.ts";
import type { Me, Pause } from "../api/shapes.ts";
import { stream } from "../live/stream.svelte.ts";

export type Standing = "asking" | "operator" | "stranger" | "unreachable";

class Who {
  standing = $state<Standing>("asking");
  me = $state.raw<Me | null>(null);
  /** When the pause that is in force ends. */
  pausedUntil = $state<number | null>(null);

  constructor() {
    onLoggedOut(() => this.#become("stranger"));
  }

  /** Exchanges the token of an operator's link for a cookie, and takes it out of the address at once. */
  async begin(): Promise<void> {
    const here = new URL(location.href);
    const token = here.searchParams.get("token");
    if (token !== null) {
      here.searchParams.delete("token");
      history.replaceState(null, "", here.pathname + here.search);
      const wrong = await this.login(token);
      if (wrong === null) return;
    }
    await this.ask();
  }

  async ask(): Promise<void> {
    try {
      const me = await get<Me>("/v1/me");
      this.me = me;
      this.#become(me.role === "operator" ? "operator" : "stranger");
    } catch (error) {
      const refused = error instanceof Problem && (error.status === 401 || error.status === 403);
      this.#become(refused ? "stranger" : "unreachable");
    }
  }

  /** Answers what is wrong with the token, none when it was right. */
  async login(token: string): Promise<string | null> {
    try {
      await post("/v1/login", { token: token.trim() });
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return "This is not the operator's token.";
      return words(error);
    }
    await this.ask();
    return this.standing === "operator" ? null : "This token is not an operator's.";
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
  }
}

export const who = new Who();
