/**
 * Claude Agent SDK: `query({ prompt, options: sprag.options(options) })` with `const sprag = new Sprag()`.
 *
 * The same sessions, tool-use ids and answers as the hooks of `sprag install claude`, so a call that both report counts
 * once. Hooks get no token counts: pass the messages through `sprag.watch(…)` to have them reported.
 */

import type {
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookJSONOutput,
  Options,
  SDKMessage,
} from "@anthropic-ai/claude-agent-sdk" with { "resolution-mode": "import" };
import type { SessionEvents } from "./session-events.js";
import { type AdapterOptions, Bounded, type Run, type Seen, Watch } from "./watch.js";

const AGENT = "claude";

/** What hooks get, of all kinds. */
type Given = { session_id: string } & Record<string, unknown>;

/** Guards every tool call of an agent, its sub-agents' too. */
export class Sprag {
  readonly #watch: Watch;
  readonly #pending = new Bounded<string, Seen>();
  readonly #counted = new Bounded<string, true>();

  constructor(options: AdapterOptions = {}) {
    this.#watch = new Watch(options);
  }

  /** A copy of the options with the guard's hooks before the others. */
  options(options: Options = {}): Options {
    const hooks: Partial<Record<HookEvent, HookCallbackMatcher[]>> = { ...options.hooks };
    const mine: [HookEvent, (given: Given, id: string | undefined) => Promise<HookJSONOutput>][] = [
      ["UserPromptSubmit", (given) => this.#prompt(given)],
      ["PreToolUse", (given, id) => this.#before(given, id)],
      ["PostToolUse", (given, id) => this.#after(given, id)],
      ["PostToolUseFailure", (given, id) => this.#after(given, id)],
      ["SubagentStart", (given) => this.#subAgent(given, "spawn")],
      ["SubagentStop", (given) => this.#subAgent(given, "return")],
    ];
    for (const [event, hook] of mine) {
      const callback: HookCallback = (input: HookInput, id) => hook(input as unknown as Given, id);
      hooks[event] = [{ hooks: [callback] }, ...(hooks[event] ?? [])];
    }
    return { ...options, hooks };
  }

  /** Passes messages on, and reports what each answer of the model cost. */
  async *watch(messages: AsyncIterable<SDKMessage>): AsyncGenerator<SDKMessage, void> {
    for await (const message of messages) {
      if (message.type === "assistant") await this.#usage(message);
      yield message;
    }
  }

  async #usage({ message, session_id }: Extract<SDKMessage, { type: "assistant" }>): Promise<void> {
    // One answer comes as several messages, one a block, each with the counts of the whole.
    const id = `${session_id}:${message.id}`;
    if (!message.usage || this.#counted.has(id)) return;
    this.#counted.set(id, true);
    const run = this.#run(session_id);
    const event = run.root.usageEvent({
      inputTokens: message.usage.input_tokens,
      outputTokens: message.usage.output_tokens,
      model: message.model,
      cacheReadTokens: message.usage.cache_read_input_tokens ?? undefined,
      cacheWriteTokens: message.usage.cache_creation_input_tokens ?? undefined,
    });
    await this.#watch.report(run, event);
  }

  async #prompt(given: Given): Promise<HookJSONOutput> {
    const run = this.#run(given.session_id);
    const event = this.#watch.startEvent(run, given["prompt"] ?? "");
    event["flow"] = run.root.flow = flow(given);
    const verdict = await this.#watch.report(run, event);
    return verdict.refused ? { decision: "block", reason: verdict.text } : {};
  }

  async #before(given: Given, id: string | undefined): Promise<HookJSONOutput> {
    const run = this.#run(given.session_id);
    const session = this.#session(given);
    const { server, tool } = split(String(given["tool_name"]));
    const useId = useIdOf(given, id);
    const cwd = typeof given["cwd"] === "string" ? { cwd: given["cwd"] } : {};
    const fields = { ...(server ? { server } : {}), ...(useId ? { useId } : {}), ...cwd };
    const seen = await this.#watch.before(run, session, tool, given["tool_input"], fields);
    if (!seen.refused) {
      this.#pending.set(useId ?? String(seen.event["id"]), seen);
      return {};
    }
    return {
      systemMessage: seen.text,
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: seen.text },
      ...(seen.verdict.stops ? { continue: false, stopReason: seen.text } : {}),
    };
  }

  async #after(given: Given, id: string | undefined): Promise<HookJSONOutput> {
    const useId = useIdOf(given, id) ?? "";
    const seen = this.#pending.get(useId);
    if (seen === undefined) return {};
    this.#pending.delete(useId);
    const isError = given["error"] !== undefined;
    const result = isError ? given["error"] : seenByTheModel(given["tool_response"]);
    const note = await this.#watch.after(this.#run(given.session_id), seen, result, isError);
    if (seen.after?.decision === "kill") return { continue: false, stopReason: note, systemMessage: note };
    if (!note) return {};
    const hookEventName = given["hook_event_name"] as "PostToolUse";
    return { hookSpecificOutput: { hookEventName, additionalContext: note } };
  }

  async #subAgent(given: Given, kind: "spawn" | "return"): Promise<HookJSONOutput> {
    const run = this.#run(given.session_id);
    const child = this.#session(given);
    const [sender, receiver] = kind === "spawn" ? [run.root, child] : [child, run.root];
    await this.#watch.report(run, sender.messageEvent(receiver, undefined, { kind }));
    return {};
  }

  #run(session: string): Run {
    return this.#watch.run(session, AGENT);
  }

  #session(given: Given): SessionEvents {
    const run = this.#run(given.session_id);
    let session = run.root;
    if (typeof given["agent_id"] === "string" && given["agent_id"]) {
      session = run.of(given["agent_id"]);
      session.agent = typeof given["agent_type"] === "string" ? given["agent_type"] : AGENT;
    }
    session.flow = run.root.flow ?? flow(given);
    return session;
  }
}

function flow(given: Given): string {
  return given["prompt_id"] ? `${given.session_id}:${String(given["prompt_id"])}` : given.session_id;
}

function useIdOf(given: Given, id: string | undefined): string | undefined {
  return typeof given["tool_use_id"] === "string" ? given["tool_use_id"] : id;
}

/** Server and tool of `mcp__server__tool`; any other name is a tool of Claude Code itself. */
function split(name: string): { server?: string; tool: string } {
  const found = /^mcp__(.+?)__(.+)$/s.exec(name);
  return found?.[1] && found[2] ? { server: found[1], tool: found[2] } : { tool: name };
}

/** A result roughly as the model reads it: what a shell printed, a file's text, blocks of text. */
function seenByTheModel(response: unknown): unknown {
  let found = response;
  if (typeof response === "object" && response !== null && !Array.isArray(response)) {
    const { stdout, stderr, structuredPatch, filePath, file, content } = response as Record<string, unknown>;
    if (typeof stdout === "string" && typeof stderr === "string") return [stdout, stderr].filter(Boolean).join("\n");
    if (structuredPatch !== undefined && filePath !== undefined) return `updated ${String(filePath)}`;
    const text = (file as { content?: unknown } | undefined)?.content;
    if (typeof text === "string") return text;
    found = content ?? response;
  }
  if (!Array.isArray(found)) return found;
  const texts = found.map((part: unknown) => (part as { text?: unknown } | null)?.text);
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : found;
}
