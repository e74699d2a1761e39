/**
 * Vercel AI SDK: `generateText(guarded({ model, tools, prompt }))` with `const guarded = sprag()`.
 *
 * `toolApproval` asks before a tool runs and denies with the reason, `onToolExecutionEnd` reports the result, and
 * middleware of the language model reports the user's words, the model's words and their cost. The same middleware puts
 * warnings next to their results, and answers for the model once the session is killed: the SDK has no other place for
 * either. `stopWhen` would end such a run without a word.
 */

import { gateway, wrapLanguageModel } from "ai";
import type { LanguageModel, LanguageModelMiddleware, ToolApprovalStatus, ToolSet } from "ai" with { "resolution-mode": "import" };
import { describe } from "./events.js";
import { currentCall, newSessionId } from "./session-events.js";
import { type AdapterOptions, Bounded, joined, type Run, type Seen, uncached, Watch } from "./watch.js";

/** What the guard adds to: the options of `generateText`, `streamText` and `ToolLoopAgent`. */
export interface GuardedOptions {
  model: LanguageModel;
  // The types of tools are the caller's own and pass through.
  tools?: any;
  toolApproval?: any;
  onToolExecutionEnd?: any;
}

/** How runs are guarded. */
export interface SpragOptions extends AdapterOptions {
  /** The session of all runs. Without it each call of the returned function is one. */
  session?: string;
  /** The agent's name, for policies and for people. */
  agent?: string;
}

type Generate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type Generated = Awaited<ReturnType<Generate>>;
type Params = Parameters<Generate>[0]["params"];
type Prompt = Params["prompt"];
type Stream = NonNullable<LanguageModelMiddleware["wrapStream"]>;
type StreamPart = Awaited<ReturnType<Stream>>["stream"] extends ReadableStream<infer P> ? P : never;
type Usage = Generated["usage"];

/** Returns a function that guards the options of one run. */
export function sprag(options: SpragOptions = {}): <O extends GuardedOptions>(run: O) => O {
  const watch = new Watch(options);
  return (given) => new Guarding(watch, options).options(given);
}

class Guarding {
  readonly #watch: Watch;
  readonly #id: string;
  readonly #agent: string | undefined;
  /** Calls that may run, until their results are reported. */
  readonly #seen = new Bounded<string, Seen>();
  /** What stands next to results, in every later request as well: the provider's cache stays valid. */
  readonly #notes = new Bounded<string, string>();

  constructor(watch: Watch, { session, agent }: SpragOptions) {
    this.#watch = watch;
    this.#id = session ?? newSessionId();
    this.#agent = agent;
  }

  options<O extends GuardedOptions>(given: O): O {
    const { model, tools, toolApproval, onToolExecutionEnd } = given;
    return {
      ...given,
      model: wrapLanguageModel({ model: resolved(model), middleware: this.#middleware() }),
      ...(tools === undefined ? {} : { tools: this.#tools(tools as ToolSet) }),
      toolApproval: (asked: ApprovalRequest) => this.#approve(asked, toolApproval),
      onToolExecutionEnd: async (event: ExecutionEnd) => {
        await this.#after(event);
        await onToolExecutionEnd?.(event);
      },
    };
  }

  /** The run that the running code belongs to: inside another guarded tool it is a sub-agent's. */
  #run(): Run {
    const within = currentCall();
    return this.#watch.run(within ? `${within}:${this.#id}` : this.#id, this.#agent);
  }

  /** What the program's own configuration refuses or asks about does not happen yet, so the guard is not asked. */
  async #approve(asked: ApprovalRequest, own: unknown): Promise<ToolApprovalStatus> {
    const status = await ownStatus(asked, own);
    const type = typeof status === "object" ? status.type : status;
    if (type === "denied" || type === "user-approval") return status;
    const { toolCallId, toolName, input } = asked.toolCall;
    const seen = await this.#before(toolCallId, toolName, input);
    return seen.refused ? { type: "denied", reason: seen.text } : status;
  }

  async #before(toolCallId: string, tool: string, input: unknown): Promise<Seen> {
    const run = this.#run();
    const seen = await this.#watch.before(run, run.root, tool, input);
    if (!seen.refused) this.#seen.set(toolCallId, seen);
    return seen;
  }

  /** Tools whose runs know their session, so that agents inside of them are sub-agents. */
  #tools(tools: ToolSet): ToolSet {
    const made = Object.entries(tools).map(([name, tool]) => {
      const execute = tool.execute?.bind(tool) as Execute | undefined;
      if (execute === undefined) return [name, tool];
      const late = isGenerator(tool.execute) ? this.#lateGenerator(name, execute) : this.#late(name, execute);
      // What the tool returns passes as it is: a value, a promise, or preliminary results.
      const guarded: Execute = (input, options) => {
        const seen = this.#seen.get(options.toolCallId);
        return seen === undefined ? late(input, options) : seen.run(() => execute(input, options));
      };
      return [name, { ...tool, execute: guarded }];
    });
    return Object.fromEntries(made) as ToolSet;
  }

  /** A call that the program's user approved: the guard is asked now. */
  #late(name: string, execute: Execute): Execute {
    return async (input, options) => {
      const seen = await this.#before(options.toolCallId, name, input);
      if (seen.refused) throw new Error(seen.text);
      return seen.run(() => execute(input, options));
    };
  }

  /** The same for tools that report preliminary results. */
  #lateGenerator(name: string, execute: Execute): Execute {
    const before = (id: string, input: unknown): Promise<Seen> => this.#before(id, name, input);
    return async function* (input, options) {
      const seen = await before(options.toolCallId, input);
      if (seen.refused) throw new Error(seen.text);
      yield* seen.run(() => execute(input, options) as AsyncGenerator);
    };
  }

  async #after({ toolCall, toolOutput }: ExecutionEnd): Promise<void> {
    const seen = this.#seen.get(toolCall.toolCallId);
    if (seen === undefined) return;
    this.#seen.delete(toolCall.toolCallId);
    const isError = toolOutput.type === "tool-error";
    const result = isError ? describe(toolOutput.error) : toolOutput.output;
    const note = await this.#watch.after(this.#run(), seen, result, isError);
    if (note) this.#notes.set(toolCall.toolCallId, note);
  }

  #middleware(): LanguageModelMiddleware {
    return {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, prompt: withNotes(params.prompt, this.#notes) }),
      wrapGenerate: async ({ doGenerate, params, model }) => {
        const run = await this.#start(params.prompt);
        if (run.stop !== undefined) return { content: [{ type: "text", text: run.stop.text }], finishReason: STOPPED, usage: NOTHING, warnings: [] };
        const result = await doGenerate();
        const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
        await this.#said(run, text, result.content.some((part) => part.type === "tool-call"), result.usage, model.modelId);
        return result;
      },
      wrapStream: async ({ doStream, params, model }) => {
        const run = await this.#start(params.prompt);
        if (run.stop !== undefined) return { stream: answer(run.stop.text) };
        const result = await doStream();
        return { ...result, stream: result.stream.pipeThrough(this.#listener(run, model.modelId)) };
      },
    };
  }

  /** A request that ends with the user's words is the start of a turn. */
  async #start(prompt: Prompt): Promise<Run> {
    const run = this.#run();
    const last = prompt.at(-1);
    if (last?.role === "user") {
      const words = last.content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
      const verdict = await this.#watch.report(run, this.#watch.startEvent(run, words));
      if (verdict.refused) run.stop = verdict;
    }
    return run;
  }

  #listener(run: Run, modelId: string): TransformStream<StreamPart, StreamPart> {
    let text = "";
    let hasCalls = false;
    let usage: Usage | undefined;
    return new TransformStream({
      transform: async (part, controller) => {
        if (part.type === "text-delta") text += part.delta;
        if (part.type === "tool-call") hasCalls = true;
        if (part.type === "finish") usage = part.usage;
        // Told before the tools of this answer run, which a finished stream sets off.
        if (part.type === "finish") await this.#said(run, text, hasCalls, usage, modelId);
        controller.enqueue(part);
      },
    });
  }

  /** What the model said and what that cost; without tool calls the run ends with it. */
  async #said(run: Run, text: string, hasCalls: boolean, usage: Usage | undefined, model: string): Promise<void> {
    const cacheReadTokens = usage?.inputTokens.cacheRead;
    const cacheWriteTokens = usage?.inputTokens.cacheWrite;
    const inputTokens = usage?.inputTokens.noCache ?? uncached(usage?.inputTokens.total, cacheReadTokens, cacheWriteTokens);
    const outputTokens = usage?.outputTokens.total;
    if (inputTokens || outputTokens) {
      await this.#watch.report(run, run.root.usageEvent({ inputTokens, outputTokens, model, cacheReadTokens, cacheWriteTokens }));
    }
    if (text) await this.#watch.report(run, run.root.outputEvent(text));
    if (!hasCalls) await this.#watch.end(run, text);
  }
}

type Execute = (input: unknown, options: { toolCallId: string }) => unknown;

interface ApprovalRequest {
  toolCall: { toolCallId: string; toolName: string; input: unknown };
  messages: unknown;
  runtimeContext?: unknown;
  toolsContext?: Record<string, unknown>;
}

interface ExecutionEnd {
  toolCall: { toolCallId: string };
  toolOutput: { type: string; output?: unknown; error?: unknown };
}

const STOPPED: Generated["finishReason"] = { unified: "stop", raw: "sprag" };
const NOTHING: Usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** What the program's own `toolApproval` says: a function for all tools, or a status or function for each. */
async function ownStatus(asked: ApprovalRequest, own: unknown): Promise<ToolApprovalStatus> {
  if (typeof own === "function") return (own as (asked: ApprovalRequest) => Promise<ToolApprovalStatus>)(asked);
  const { toolName, input, toolCallId } = asked.toolCall;
  const one = (own as Record<string, unknown> | undefined)?.[toolName];
  if (typeof one !== "function") return one as ToolApprovalStatus;
  const { messages, runtimeContext, toolsContext } = asked;
  const options = { toolCallId, messages, runtimeContext, toolContext: toolsContext?.[toolName] };
  return (one as (input: unknown, options: unknown) => Promise<ToolApprovalStatus>)(input, options);
}

function isGenerator(execute: unknown): boolean {
  const kind = Object.prototype.toString.call(execute);
  return kind === "[object AsyncGeneratorFunction]" || kind === "[object GeneratorFunction]";
}

/** The model itself: an id is looked up where the SDK would. */
function resolved(model: LanguageModel): Exclude<LanguageModel, string> {
  if (typeof model !== "string") return model;
  const own = (globalThis as { AI_SDK_DEFAULT_PROVIDER?: { languageModel(id: string): Exclude<LanguageModel, string> } }).AI_SDK_DEFAULT_PROVIDER;
  return (own ?? gateway).languageModel(model);
}

function withNotes(prompt: Prompt, notes: ReadonlyMap<string, string>): Prompt {
  if (notes.size === 0) return prompt;
  return prompt.map((message) => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) => {
      const note = part.type === "tool-result" ? notes.get(part.toolCallId) : undefined;
      return part.type === "tool-result" && note ? { ...part, output: withNote(part.output, note) } : part;
    });
    return { ...message, content };
  });
}

type ToolOutput = Extract<Extract<Prompt[number], { role: "tool" }>["content"][number], { type: "tool-result" }>["output"];

function withNote(output: ToolOutput, note: string): ToolOutput {
  switch (output.type) {
    case "text":
    case "error-text":
      return { ...output, value: joined(output.value, note) };
    case "json":
      return { type: "text", value: joined(JSON.stringify(output.value), note) };
    case "error-json":
      return { type: "error-text", value: joined(JSON.stringify(output.value), note) };
    case "content":
      return { ...output, value: [...output.value, { type: "text", text: note }] };
    default:
      return output;
  }
}

/** An answer of the guard itself. */
function answer(text: string): ReadableStream<StreamPart> {
  const id = "sprag";
  const parts: StreamPart[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id },
    { type: "text-delta", id, delta: text },
    { type: "text-end", id },
    { type: "finish", finishReason: STOPPED, usage: NOTHING },
  ];
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
