/**
 * Events on the wire, made of whatever a program or a model hands over.
 *
 * Names and payloads come from models, so nothing here may fail: a call with an odd tool name or an argument that is
 * not JSON must still be judged.
 */

import { createHash } from "node:crypto";

/** An event in wire format. */
export type Event = Record<string, unknown>;

/** The longest id that the guard takes, in bytes of UTF-8. */
const MAX_ID_BYTES = 256;
/** Payloads beyond this are sent as their digest: a server takes events of up to 8 MiB. */
const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;
const PAYLOADS = ["args", "result", "content", "approach", "text"];
const MAX_DEPTH = 32;

/** The id nearest to `text`: never empty, no control characters, not too long. */
export function cleanId(text: unknown): string {
  const name = asText(text).toWellFormed().replace(/\p{Cc}/gu, "\ufffd");
  if (name === "") return "(empty)";
  const bytes = Buffer.from(name, "utf8");
  if (bytes.length <= MAX_ID_BYTES) return name;
  // The cut may go through a character; what is left of it is dropped.
  const start = bytes.subarray(0, MAX_ID_BYTES - 33).toString("utf8").replace(/\ufffd+$/u, "");
  return `${start}~${digest(bytes).slice(0, 32)}`;
}

/** `cleanId` of an optional id. */
export function cleanOptional(text: unknown): string | undefined {
  return text === undefined || text === null || text === "" ? undefined : cleanId(text);
}

/** The event as one line of JSON, without its end. */
export function encode(event: Event): Buffer {
  const line = dump(event);
  if (line.length <= MAX_PAYLOAD_BYTES) return line;
  const smaller: Event = { ...event };
  for (const name of PAYLOADS) if (name in smaller) smaller[name] = digestIfLarge(smaller[name]);
  return dump(smaller);
}

/** The fields that are set. */
export function withoutUndefined(fields: Event): Event {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** An error as the outcome of a call. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : asText(error);
}

function digestIfLarge(value: unknown): unknown {
  const bytes = dump(value);
  // Equal payloads stay equal, which is all that the rules ask of them.
  return bytes.length <= MAX_PAYLOAD_BYTES / 4 ? value : { sha256: digest(bytes), bytes: bytes.length };
}

function dump(value: unknown): Buffer {
  return Buffer.from(stringify(value), "utf8");
}

function stringify(value: unknown): string {
  try {
    // Objects that say what they are in JSON are believed, as everywhere in JavaScript.
    const text = JSON.stringify(value, plain);
    if (text !== undefined) return text.isWellFormed() ? text : text.toWellFormed();
  } catch {
    // A cycle, or a `toJSON` that throws: the slow way.
  }
  return JSON.stringify(jsonable(value, MAX_DEPTH));
}

/** A JSON form of what `JSON.stringify` would drop or refuse. */
function plain(this: unknown, _key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "function" || typeof value === "symbol") return `(${typeof value})`;
  if (value instanceof Error) return describe(value);
  if (value instanceof Map) return Object.fromEntries([...value].map(([k, v]) => [asText(k), v]));
  if (value instanceof Set) return [...value].map(asText).sort();
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return { sha256: digest(bytes), bytes: bytes.length };
  }
  return value;
}

/** The slow way: cycles end at a depth, and what throws is named by its type. */
function jsonable(value: unknown, depth: number): unknown {
  if (depth === 0) return "(too deep)";
  const found = plain.call(undefined, "", value);
  if (found === undefined) return null;
  if (typeof found !== "object" || found === null) return found;
  if (Array.isArray(found)) return found.map((item) => jsonable(item, depth - 1));
  const fields: Event = {};
  for (const key of Object.keys(found)) {
    try {
      fields[key.toWellFormed()] = jsonable((found as Event)[key], depth - 1);
    } catch {
      fields[key] = "(unreadable)";
    }
  }
  return fields;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return `(${typeof value})`; // a `toString` of a stranger may throw anything
  }
}
