// What all scripted models play: turns of tool calls, and a last text. No key, no network.
import { z } from "zod";

export const INPUT_TOKENS = 11;
export const OUTPUT_TOKENS = 7;
export const PROMPT = "please do it";

/** The tools of the agents under test, and what really ran. */
export class Tools {
  ran = [];

  /** The tools: a name, a description, a schema and a function, half of them async. */
  list() {
    const text = z.object({ text: z.string() });
    return [
      this.#tool("echo", "Repeats a text.", text, ({ text }) => `echo ${text}`),
      this.#tool("delete_asset", "Deletes an asset.", z.object({ asset_id: z.string() }), async () => "asset still exists"),
      this.#tool("forbidden", "May not be called.", text, async () => "did it"),
      this.#tool("fail", "Always fails.", text, () => { throw new Error("disk on fire"); }),
    ];
  }

  #tool(name, description, schema, work) {
    const run = (input) => {
      this.ran.push([name, Object.values(input)[0]]);
      return work(input);
    };
    return { name, description, schema, run };
  }
}

/** What came of a run. */
export class Outcome {
  /** @param requests how often the model was asked @param results what the model read as results, in order */
  constructor({ requests, results = [], final = "", error }) {
    Object.assign(this, { requests, results, final, error });
  }

  /** Everything that tells why it ended. */
  get text() {
    const { error } = this;
    return [...this.results, this.final, error ? `${error.name}: ${error.message} ${error.cause ?? ""}` : ""].join("\n");
  }
}
