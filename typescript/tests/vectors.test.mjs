// The vectors that fix the semantics, verdict for verdict through this client.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Guard } from "sprag";
import { TIMEOUT_MS, withGuards } from "./real-guard.mjs";

const FOLDER = join(import.meta.dirname, "../../crates/sprag-core/tests/vectors");
// What an event without a time gets: a second after the one before.
const START = 1_760_000_000_000;
const SECOND = 1000;

const scenarios = readdirSync(FOLDER).filter((file) => file.endsWith(".json")).sort().flatMap((file) => {
  const document = JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
  return Array.isArray(document) ? document.map((scenario) => ({ file, scenario })) : [];
});

/** A partial match: objects field by field, everything else equal. */
function matches(wanted, found) {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    return JSON.stringify(wanted ?? null) === JSON.stringify(found ?? null);
  }
  return typeof found === "object" && found !== null && Object.entries(wanted).every(([key, value]) => matches(value, found[key]));
}

/** What must hold for the whole. */
function overall(demands, verdicts) {
  const first = (holds) => (verdicts.findIndex(holds) + 1 || Infinity);
  const warned = first((verdict) => verdict.decision !== "allow");
  const stopped = first((verdict) => verdict.refused);
  if (demands.silent) assert.equal(warned, Infinity);
  if (demands.no_stop) assert.equal(stopped, Infinity);
  assert.ok(warned <= (demands.warn_by ?? Infinity));
  assert.ok(stopped <= (demands.stop_by ?? Infinity));
  assert.ok(warned >= (demands.not_before ?? 0));
}

test("there are vectors", () => assert.ok(scenarios.length > 100));

for (const { file, scenario } of scenarios) {
  test(`${file}: ${scenario.name}`, withGuards(async (place) => {
    const policy = place.policy(scenario.policy ?? {});
    const guard = place.keep(Guard.inMemory({ policy, timeoutMs: TIMEOUT_MS }));
    const verdicts = [];
    let at = START;
    for (const [index, item] of scenario.events.entries()) {
      at = item.event.at ?? at + SECOND;
      const verdict = await guard.check({ ...item.event, at });
      verdicts.push(verdict);
      const wanted = item.expect ?? {};
      assert.ok(matches(wanted, verdict.raw), JSON.stringify([index + 1, wanted, verdict.raw]));
      if (wanted.verdict) assert.equal(verdict.decision, wanted.verdict);
    }
    overall(scenario.overall ?? {}, verdicts);
  }));
}
