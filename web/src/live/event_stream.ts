// Server-sent events over fetch. The browser's own EventSource can't send a header, so it could only prove who it is
// by a cookie or a token in the address.

export interface StreamEvent {
  type: string;
  id: string;
  data: string;
}

/** Splits the text of a stream into its events, as it comes in pieces that may end anywhere. */
export class EventParser {
  #rest = "";
  #type = "";
  #id = "";
  #data: string[] = [];

  /** The events that are complete with this piece. */
  push(piece: string): StreamEvent[] {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  #line(line: string): StreamEvent[] {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#type = value;
    else if (field === "id") this.#id = value;
    else if (field === "data") this.#data.push(value);
    return [];
  }

  #end(): StreamEvent[] {
    const event = { type: this.#type || "message", id: this.#id, data: this.#data.join("\n") };
    const complete = this.#data.length > 0;
    this.#type = "";
    this.#data = [];
    return complete ? [event] : [];
  }
}

/** Reads a body to its end and hands out each event. */
export async function readEvents(body: ReadableStream<Uint8Array>, each: (event: StreamEvent) => void): Promise<void> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.push(decoder.decode(value, { stream: true }))) each(event);
  }
}
