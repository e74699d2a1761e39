/**
 * LangChain: `createAgent({ model, tools, middleware: [spragMiddleware()] })`.
 *
 * A refused call becomes a `ToolMessage` with `status: "error"`, so that every call keeps its answer. A killed session
 * ends the run before the next model call. Agents that run inside a tool of another agent are its sub-agents; a tool
 * that sends the graph to another agent is a handoff.
 */

import { AIMessage, type BaseMessage, ToolMessage, type UsageMetadata } from "@langchain/core/messages";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { describe, type Event } from "./events.js";
import { currentCall } from "./session-events.js";
import type { Verdict } from "./verdict.js";
import { type AdapterOptions, joined, type Run, uncached, Watch } from "./watch.js";

/** How agents are guarded. */
export interface SpragMiddlewareOptions extends AdapterOptions {
  /** The session of all runs. Without it the thread id is the session, else each run is. */
  session?: string;
}

/** What hooks and wrappers have in common. */
interface State {
  messages: BaseMessage[];
}
interface Place {
  configurable?: { thread_id?: string } | undefined;
}

/** Guards every tool call of an agent. Put it last in the list, so that it sees the calls that really run. */
export function spragMiddleware(options: SpragMiddlewareOptions = {}): AgentMiddleware {
  const guarding = new Guarding(new Watch(options), options.session);
  return createMiddleware({
    name: "SpragMiddleware",
    beforeAgent: { canJumpTo: ["end"], hook: (state, runtime) => guarding.start(state, runtime) },
    beforeModel: { canJumpTo: ["end"], hook: (state, runtime) => guarding.beforeModel(state, runtime) },
    afterModel: (state, runtime) => guarding.afterModel(state, runtime),
    afterAgent: (state, runtime) => guarding.end(state, runtime),
    wrapToolCall: async (request, handler) => {
      const { run, watch } = guarding.of(request.state, request.runtime);
      const { name, args, id } = request.toolCall;
      const seen = await watch.before(run, run.of(agentName()), name, args);
      if (seen.refused) return new ToolMessage({ content: seen.text, tool_call_id: id ?? "", name, status: "error" });
      let result;
      try {
        result = await seen.run(() => handler(request));
      } catch (error) {
        await watch.after(run, seen, describe(error), true);
        throw error;
      }
      const [outcome, isError] = outcomeOf(id, result);
      const note = await watch.after(run, seen, outcome, isError);
      if (!ToolMessage.isInstance(result) && isGoing(result)) run.isHandedOver = true;
      return withNote(result, note);
    },
  });
}

class Guarding {
  readonly watch: Watch;
  readonly #session: string | undefined;

  constructor(watch: Watch, session: string | undefined) {
    this.watch = watch;
    this.#session = session;
  }

  /** The run that a hook belongs to. */
  of(state: State, place: Place): { run: Run; watch: Watch } {
    const thread = place.configurable?.thread_id;
    // Without a thread the first message tells runs apart: the graph gives it an id that stays.
    const named = this.#session ?? (thread ? `langchain-${thread}` : `langchain-${state.messages[0]?.id ?? "run"}`);
    const within = currentCall();
    return { run: this.watch.run(within ? `${within}:${named}` : named, agentName()), watch: this.watch };
  }

  /** Reports what the user said, a spawn, or a handoff. */
  async start(state: State, place: Place): Promise<Stop | undefined> {
    const { run } = this.of(state, place);
    const words = lastText(state, "human");
    const name = agentName();
    const isSameTurn = run.parent === undefined && words === run.root.lastWords;
    if (isSameTurn && name !== undefined && run.of(name) !== run.active) {
      // Without a handoff by a tool it is the next node of the graph, as the program wants it.
      const isHandoff = run.isHandedOver;
      run.isHandedOver = false;
      const verdict = isHandoff ? await this.watch.handOff(run, name, words) : undefined;
      run.active = run.of(name);
      return verdict?.refused ? ended(verdict) : undefined;
    }
    const verdict = await this.watch.report(run, this.watch.startEvent(run, words));
    return verdict.refused ? ended(verdict) : undefined;
  }

  /** Ends a run whose session was killed. */
  async beforeModel(state: State, place: Place): Promise<Stop | undefined> {
    const { stop } = this.of(state, place).run;
    return stop === undefined ? undefined : ended(stop);
  }

  /** Reports what the model said and what that cost. */
  async afterModel(state: State, place: Place): Promise<undefined> {
    const { run } = this.of(state, place);
    const usage = usageEvent(run, state.messages.at(-1));
    if (usage !== undefined) await this.watch.report(run, usage);
    const text = state.messages.at(-1)?.text;
    if (text) await this.watch.report(run, run.of(agentName()).outputEvent(text));
    return undefined;
  }

  /** Reports the return of a sub-agent. */
  async end(state: State, place: Place): Promise<undefined> {
    await this.watch.end(this.of(state, place).run, lastText(state, "ai"));
    return undefined;
  }
}

interface Stop {
  jumpTo: "end";
  messages: BaseMessage[];
}

function ended(verdict: Verdict): Stop {
  return { jumpTo: "end", messages: [new AIMessage(verdict.text)] };
}

/** The name that `createAgent` was given, from the configuration around the running code. */
function agentName(): string | undefined {
  const config = AsyncLocalStorageProviderSingleton.getRunnableConfig() as { metadata?: Record<string, unknown> } | undefined;
  const name = config?.metadata?.["lc_agent_name"];
  return typeof name === "string" ? name : undefined;
}

/**
 * What a handler returned, and whether that is an error. A `Command` updates the graph's state, which holds the whole
 * conversation, so it is known by what it answers to its own call.
 */
function outcomeOf(callId: string | undefined, result: unknown): [outcome: unknown, isError: boolean] {
  for (const message of ToolMessage.isInstance(result) ? [result] : updated(result)) {
    if (ToolMessage.isInstance(message) && message.tool_call_id === callId) return [message.content, message.status === "error"];
  }
  const { messages: _, ...update } = (result as { update?: Record<string, unknown> }).update ?? {};
  return [JSON.stringify(update), false];
}

/** Whether a tool sends the graph elsewhere: to the agent that starts next. */
function isGoing(result: unknown): boolean {
  const goto = (result as { goto?: unknown }).goto;
  return Array.isArray(goto) ? goto.length > 0 : Boolean(goto);
}

function withNote<T>(result: T, note: string): T {
  if (!note) return result;
  const message: unknown = ToolMessage.isInstance(result) ? result : updated(result).at(-1);
  if (!ToolMessage.isInstance(message)) return result;
  const { content } = message;
  message.content = typeof content === "string" ? joined(content, note) : [...content, { type: "text", text: note }];
  return result;
}

function updated(command: unknown): unknown[] {
  const messages = (command as { update?: { messages?: unknown } }).update?.messages;
  return Array.isArray(messages) ? messages : [];
}

function usageEvent(run: Run, message: BaseMessage | undefined): Event | undefined {
  if (!AIMessage.isInstance(message) || !message.usage_metadata) return undefined;
  const { input_tokens, output_tokens, input_token_details } = message.usage_metadata as UsageMetadata;
  const cacheReadTokens = input_token_details?.cache_read;
  const cacheWriteTokens = input_token_details?.cache_creation;
  const { model_name } = message.response_metadata as { model_name?: string };
  return run.of(agentName()).usageEvent({
    inputTokens: uncached(input_tokens, cacheReadTokens, cacheWriteTokens),
    outputTokens: output_tokens,
    model: model_name,
    cacheReadTokens,
    cacheWriteTokens,
  });
}

function lastText(state: State, type: "human" | "ai"): string {
  return state.messages.findLast((message) => message.type === type)?.text ?? "";
}
