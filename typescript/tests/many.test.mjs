// One guard under 100 concurrent sessions and 1,000 calls at once: nothing is lost and nothing counts double.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withGuards } from "./real-guard.mjs";

for (const way of ["socket", "child"]) {
  for (const [sessions, each] of [[100, 1], [1000, 1], [100, 10]]) {
    test(`${sessions} sessions with ${each} calls each, all at once, over the ${way}`, withGuards(async (place) => {
      if (way === "socket") await place.serve();
      const guard = place.guard({ fail: "closed" });
      const work = async (id, number) => {
        const call = await guard.session(id).call("read", { number });
        const step = await call.result(`result ${number}`);
        assert.ok(call.verdict.checked && !call.refused && step.decision === "allow");
      };
      const all = Array.from({ length: sessions * each }, (_, number) => work(`s${number % sessions}`, number));
      await Promise.all(all);
      assert.equal(guard.failures, 0);
      const seen = new Map();
      for (const { event } of await place.records()) {
        const key = `${event.type} ${event.session} ${event.id}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
      assert.equal(seen.size, 2 * sessions * each);
      assert.deepEqual([...new Set(seen.values())], [1]);
    }));
  }
}
