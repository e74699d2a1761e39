/**
 * Sprag for TypeScript: a guard that notices runaway agents and stops them.
 *
 * Frameworks have adapters of their own: `sprag/ai`, `sprag/langchain`, `sprag/openai-agents` and `sprag/claude-agent`.
 */

export { Guard, type CommonOptions, type GuardOptions, type Question } from "./guard.js";
export { Call, Session } from "./session.js";
export type { CallFields, MessageFields, SessionFields, Source, StepFields, UsageFields } from "./session-events.js";
export { Verdict, type Decision } from "./verdict.js";
export type { Event } from "./events.js";
export type { Fail, Log } from "./core.js";
export { EventRejected, NoVerdict, Refused, SetupError, SpragError } from "./errors.js";
export { VERSION } from "./version.js";
