/**
 * OpenAI Agents SDK: `run(guard(agent), …)`.
 *
 * The SDK takes guardrails per function tool only, so `guard` returns a copy of the agent that guards its tools as it
 * lists them, those of MCP servers too, with the handoffs and the agents behind them. A refused call is answered with
 * the reason. A killed session ends the run before the next request to the model: it throws `Refused`, which says more
 * than the tripwire of a guardrail would. Hosted tools (web search, computer use) run at the provider and never reach
 * this program.
 */

import { type Agent, Agent as AgentClass, type FunctionTool, getCurrentTrace, Handoff, handoff, type RunContext, type Tool } from "@openai/agents";
import { describe } from "./events.js";
import { Refused } from "./errors.js";
import { currentCall, newSessionId } from "./session-events.js";
import { type AdapterOptions, Bounded, joined, type Run, type Seen, uncached, Watch } from "./watch.js";

/** How agents are guarded. */
export interface GuardedAgentOptions extends AdapterOptions {
  /**
   * The session of all runs, or a function of the run's context. Without it the group of the trace is the session
   * (`new Runner({ groupId })`), else each run is.
   */
  session?: string | ((context: unknown) => string);
}

// Agents of any context and output are guarded alike; the SDK's own type parameters for that are `any`.
type AnyAgent = Agent<any, any>;
type AnyContext = RunContext<any>;

/** How the SDK's own text for a tool that threw begins. */
const FAILED = "An error occurred while running the tool";

/** A guarded copy of an agent and of every agent that it can hand off to. The agent itself stays as it is. */
export function guard<A extends AnyAgent>(agent: A, options: GuardedAgentOptions = {}): A {
  return new Guarding(new Watch(options), options.session).agent(agent) as A;
}

class Guarding {
  readonly #watch: Watch;
  readonly #session: GuardedAgentOptions["session"];
  readonly #agents = new Map<AnyAgent, AnyAgent>();
  readonly #tools = new WeakMap<object, Tool<any>>();
  readonly #runIds = new WeakMap<object, string>();
  /** Tokens that were reported, by the count that all contexts of a run share. */
  readonly #reported = new WeakMap<object, { input: number; output: number; cached: number }>();
  /** Calls that may run, until their results are reported. */
  readonly #pending = new Bounded<string, Seen>();
  /** That a run has started and the guard knows. */
  readonly #started = new WeakMap<object, Promise<void>>();

  constructor(watch: Watch, session: GuardedAgentOptions["session"]) {
    this.#watch = watch;
    this.#session = session;
  }

  /** The guarded copy of an agent; agents may hand off in circles, so each is copied once. */
  agent(agent: AnyAgent): AnyAgent {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const made: AnyAgent = agent.clone({});
    this.#agents.set(agent, made).set(made, made);
    made.handoffs = agent.handoffs.map((target) => this.#handoff(target));
    const list = made.getAllTools.bind(made);
    // The one thing that the SDK awaits of an agent before each request to the model.
    made.getAllTools = async (context, span) => {
      await this.#beforeModel(context, made);
      return (await list(context, span)).map((tool) => this.#tool(tool));
    };
    this.#listen(agent, made);
    return made;
  }

  /** Emitters don't wait, so what they start is waited for before the model and the tools. */
  #listen(agent: AnyAgent, made: AnyAgent): void {
    made.on("agent_start", (context: AnyContext, _agent: unknown, input?: unknown[]) => {
      this.#started.set(context.usage, this.#start(context, made, input));
    });
    made.on("agent_end", (context: AnyContext, output: string) => void this.#end(context, made, output));
    for (const event of ["agent_start", "agent_end", "agent_handoff", "agent_tool_start", "agent_tool_end"] as const) {
      made.on(event, (...given: unknown[]) => void (agent.emit as (...all: unknown[]) => boolean).call(agent, event, ...given));
    }
  }

  async #start(context: AnyContext, agent: AnyAgent, input: unknown[] | undefined): Promise<void> {
    const run = this.#run(context, agent);
    if (run.isHandedOver) {
      run.isHandedOver = false; // it goes on with what another agent began
      return;
    }
    const verdict = await this.#watch.report(run, this.#watch.startEvent(run, lastWords(input)));
    if (verdict.refused) run.stop = verdict;
  }

  async #end(context: AnyContext, agent: AnyAgent, output: string): Promise<void> {
    const run = this.#run(context, agent);
    await this.#usage(run, context, agent);
    await this.#watch.end(run, output);
  }

  async #beforeModel(context: AnyContext, agent: AnyAgent): Promise<void> {
    await this.#started.get(context.usage);
    const run = this.#run(context, agent);
    await this.#usage(run, context, agent);
    if (run.stop !== undefined) throw new Refused(run.stop);
  }

  async #usage(run: Run, { usage }: AnyContext, agent: AnyAgent): Promise<void> {
    const before = this.#reported.get(usage) ?? { input: 0, output: 0, cached: 0 };
    const now = { input: usage.inputTokens, output: usage.outputTokens, cached: cachedTokens(usage.inputTokensDetails) };
    this.#reported.set(usage, now);
    const inputTokens = uncached(now.input - before.input, now.cached - before.cached);
    const outputTokens = Math.max(0, now.output - before.output);
    if (!inputTokens && !outputTokens) return;
    const model = typeof agent.model === "string" ? agent.model : undefined;
    const cacheReadTokens = Math.max(0, now.cached - before.cached);
    await this.#watch.report(run, run.of(agent.name).usageEvent({ inputTokens, outputTokens, model, cacheReadTokens }));
  }

  /** The guarded copy of a function tool; hosted tools have nothing to guard here. */
  #tool(tool: Tool<any>): Tool<any> {
    if (tool.type !== "function") return tool;
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    const made: FunctionTool<any, any, any> = {
      ...tool,
      // The last of the guardrails: what another one rejects does not happen and does not count.
      inputGuardrails: [...(tool.inputGuardrails ?? []), this.#guardrail()],
      invoke: async (context, input, details) => {
        const key = `${this.#runId(context)} ${details?.toolCall?.callId ?? ""}`;
        const run = this.#watch.run(this.#runId(context));
        const seen = this.#pending.get(key) ?? (await this.#watch.before(run, run.active, tool.name, parsed(input)));
        this.#pending.delete(key);
        if (seen.refused) return seen.text;
        return this.#invoked(run, seen, () => tool.invoke(context, input, details));
      },
    };
    this.#tools.set(tool, made).set(made, made);
    return made;
  }

  async #invoked(run: Run, seen: Seen, invoke: () => Promise<unknown>): Promise<unknown> {
    let result: unknown;
    try {
      result = await seen.run(invoke);
    } catch (error) {
      await this.#watch.after(run, seen, describe(error), true);
      throw error;
    }
    const isError = typeof result === "string" && result.startsWith(FAILED);
    const note = await this.#watch.after(run, seen, result, isError);
    return note ? withNote(result, note) : result;
  }

  #guardrail(): NonNullable<FunctionTool<any>["inputGuardrails"]>[number] {
    return {
      type: "tool_input",
      name: "sprag",
      run: async ({ context, agent, toolCall }) => {
        const run = this.#run(context, agent);
        await this.#usage(run, context, agent);
        const seen = await this.#watch.before(run, run.of(agent.name), toolCall.name, parsed(toolCall.arguments));
        if (seen.refused) return { behavior: { type: "rejectContent", message: seen.text }, outputInfo: seen.text };
        this.#pending.set(`${this.#runId(context)} ${toolCall.callId}`, seen);
        return { behavior: { type: "allow" } };
      },
    };
  }

  /** A refused handoff throws `Refused` and ends the run: there is no agent to go on with. */
  #handoff(target: AnyAgent | Handoff<any, any>): Handoff<any, any> {
    const own = target instanceof AgentClass ? handoff(this.agent(target)) : (target as Handoff<any, any>);
    return own.clone({
      onInvokeHandoff: async (context: AnyContext, input: string) => {
        const next = this.agent(await own.onInvokeHandoff(context, input));
        const run = this.#run(context, next);
        const verdict = await this.#watch.handOff(run, next.name);
        verdict?.throwIfRefused();
        run.isHandedOver = true;
        return next;
      },
    });
  }

  #run(context: AnyContext, agent: AnyAgent): Run {
    return this.#watch.run(this.#runId(context), agent.name);
  }

  #runId(context: AnyContext): string {
    let named = typeof this.#session === "function" ? this.#session(context.context) : this.#session;
    if (!named) {
      const trace = getCurrentTrace();
      named = trace?.groupId ?? trace?.traceId;
    }
    if (!named || named === "no-op") named = this.#usageId(context.usage);
    const within = currentCall();
    return within ? `${within}:${named}` : named;
  }

  /** An id for a run without a trace: its count of tokens is the one thing that all its contexts share. */
  #usageId(usage: object): string {
    const known = this.#runIds.get(usage) ?? newSessionId();
    this.#runIds.set(usage, known);
    return known;
  }
}

function cachedTokens(details: readonly Record<string, number>[] | undefined): number {
  return (details ?? []).reduce((sum, one) => sum + (one["cached_tokens"] ?? one["cachedTokens"] ?? 0), 0);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The note next to what the SDK would give the model as a text anyway; images and files stay as they are. */
function withNote(result: unknown, note: string): unknown {
  if (typeof result === "string") return joined(result, note);
  const { type, text } = (result ?? {}) as { type?: unknown; text?: unknown };
  if (type === "text" && typeof text === "string") return { ...(result as object), text: joined(text, note) };
  return type === undefined && !Array.isArray(result) ? joined(JSON.stringify(result ?? ""), note) : result;
}

function lastWords(items: unknown[] | undefined): string {
  const last = (items ?? []).findLast((item) => (item as { role?: string }).role === "user") as { content?: unknown } | undefined;
  return typeof last?.content === "string" ? last.content : JSON.stringify(last?.content ?? "");
}
