// The policy in force, the text being edited, whether it is right, and what it would have done.
import { Problem, get, path, post, put, words } from "../api/client.ts";
import type { Defaults, PolicyChange, PolicyError, PolicyInForce, Page, Trial } from "../api/shapes.ts";

const CHECK_MS = 250;

export class PolicyModel {
  inForce = $state.raw<PolicyInForce | null>(null);
  defaults = $state.raw<Defaults | null>(null);
  history = $state.raw<PolicyChange[] | null>(null);
  trouble = $state<string | null>(null);
  text = $state("");
  errors = $state.raw<PolicyError[]>([]);
  checking = $state(false);
  trial = $state.raw<Trial | null>(null);
  trying = $state(false);
  /** The policy changed under the editor: whose text it started from is not in force any more. */
  overtaken = $state(false);
  #base = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #texts = new Map<string, string>();

  /** The file as it is; empty where there is none yet, which means the defaults. */
  get written(): string {
    return this.inForce?.file_text ?? "";
  }

  get changed(): boolean {
    return this.inForce !== null && this.text !== this.written;
  }

  async load(): Promise<void> {
    try {
      const fresh = await get<PolicyInForce>("/v1/policy");
      const untouched = !this.changed || this.inForce === null;
      this.defaults ??= await get<Defaults>("/v1/policy/defaults");
      if (untouched) {
        this.text = fresh.file_text ?? "";
        this.#base = fresh.digest;
      } else if (fresh.digest !== this.#base) {
        this.overtaken = true;
      }
      this.inForce = fresh;
      this.trouble = null;
    } catch (error) {
      this.trouble = words(error);
    }
  }

  async loadHistory(): Promise<void> {
    try {
      this.history = (await get<Page<PolicyChange>>("/v1/policy/history")).items;
    } catch (error) {
      this.trouble = words(error);
    }
  }

  async textOf(digest: string): Promise<string> {
    const known = this.#texts.get(digest);
    if (known !== undefined) return known;
    const { text } = await get<{ text: string }>(path`/v1/policy/history/${digest}`);
    this.#texts.set(digest, text);
    return text;
  }

  /** Asks the server, a moment after the last key. */
  checkSoon(): void {
    clearTimeout(this.#timer);
    this.checking = true;
    this.trial = null;
    this.#timer = setTimeout(() => void this.#check(this.text), CHECK_MS);
  }

  async #check(text: string): Promise<void> {
    try {
      await post("/v1/policy/check", { text });
      if (text === this.text) this.errors = [];
    } catch (error) {
      if (text === this.text) this.errors = mistakes(error);
    }
    if (text === this.text) this.checking = false;
  }

  async try(): Promise<void> {
    this.trying = true;
    this.trial = null;
    try {
      this.trial = await post<Trial>("/v1/policy/try", { text: this.text, hours: 24 });
      this.trouble = null;
    } catch (error) {
      this.trouble = words(error);
    }
    this.trying = false;
  }

  /** Answers what went wrong, none when it is in force. */
  async apply(why: string): Promise<string | null> {
    try {
      await put("/v1/policy", { text: this.text, why, base: this.#base });
    } catch (error) {
      if (error instanceof Problem && error.status === 409) {
        this.overtaken = true;
        await this.load();
        return "Somebody else changed the policy since you opened it. Close this, look at what is in force now, and decide again.";
      }
      if (error instanceof Problem && error.status === 422) this.errors = mistakes(error);
      return words(error);
    }
    this.inForce = null;
    this.trial = null;
    this.overtaken = false;
    await Promise.all([this.load(), this.loadHistory()]);
    return null;
  }

  /** Starts over from what is in force. */
  discard(): void {
    if (!this.inForce) return;
    this.text = this.written;
    this.#base = this.inForce.digest;
    this.errors = [];
    this.trial = null;
    this.overtaken = false;
    this.checking = false;
  }

  /** Keeps the text, on top of what is in force now. */
  takeOver(): void {
    if (this.inForce) this.#base = this.inForce.digest;
    this.overtaken = false;
  }
}

/** What is wrong with a text, line by line where the server says so. */
function mistakes(error: unknown): PolicyError[] {
  const listed = error instanceof Problem ? error.extra["errors"] : undefined;
  if (Array.isArray(listed) && listed.length > 0) return listed as PolicyError[];
  return [{ key: "", line: null, column: null, message: words(error) ?? "It could not be checked." }];
}
