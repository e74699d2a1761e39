import { expect, test } from "@playwright/test";
import { ago, count, duration } from "../../src/text/amounts.ts";
import { eventText, losses, payload, reasonText } from "../../src/text/events.ts";
import { pieces, start, visible } from "../../src/text/visible.ts";
import { HOSTILE } from "../traffic.ts";

test("what can't be seen becomes an escape", () => {
  expect(visible(HOSTILE.bidi)).toBe("invoice\\u{202E}gnp.exe\\u{202C}");
  expect(visible(HOSTILE.hidden)).toBe("pay\\u{200B}\\u{200B}load\\u{2066}\\u{2069}");
  expect(visible("a\u0000b\u001b[31mc\u009b\r\n\td\ufeff")).toBe("a\\0b\\e[31mc\\x9B\\r\\n\\td\\u{FEFF}");
  expect(visible("tag\u{E0041}\u{E007F}")).toBe("tag\\u{E0041}\\u{E007F}");
  expect(visible("half \ud800 of a pair")).toBe("half \\u{D800} of a pair");
});

test("what can be seen stays as it is, in any language", () => {
  for (const text of ["schön", "日本語", "שלום", "🙂 ok", HOSTILE.script]) expect(visible(text)).toBe(text);
});

test("pieces keep their order, and lines where lines are wanted", () => {
  expect(pieces("a\u202eb\nc")).toEqual([
    { text: "a", escaped: false },
    { text: "\\u{202E}", escaped: true },
    { text: "b", escaped: false },
    { text: "\\n", escaped: true },
    { text: "c", escaped: false },
  ]);
  expect(pieces("a\nb", true)).toEqual([{ text: "a\nb", escaped: false }]);
});

test("a text is never cut inside of a character", () => {
  expect(start("ab🙂cd", 3)).toBe("ab");
  expect(start("ab🙂cd", 4)).toBe("ab🙂");
  expect(start("abc", 5)).toBe("abc");
});

test("a megabyte with marks in it is split once for each mark", () => {
  expect(pieces(`${"x\u202e".repeat(500)}${"y".repeat(1_000_000)}`)).toHaveLength(1001);
});

test("numbers and times read as people say them", () => {
  expect([7, 1234, 45_120, 3_200_000].map(count)).toEqual(["7", "1,234", "45.1k", "3.2M"]);
  expect([12, 999, 1000, 61_000, 3_600_000, 90_000_000, 864_000_000].map(duration)).toEqual(["12ms", "999ms", "1s", "1m 1s", "1h", "1d 1h", "10d"]);
  expect(ago(1000, 3000)).toBe("just now");
  expect(ago(0, 3 * 3_600_000 + 120_000)).toBe("3h ago");
});

test("events and reasons are told in a few words", () => {
  const approach = { server: "catalog", tool: "delete_asset", exact: "a", normal: "a", fields: [{ name: "asset_id", digest: "d", text: "fact_sales" }] };
  expect(eventText({ type: "call", session: "s", approach })).toBe("calls catalog/delete_asset asset_id=fact_sales");
  const effects = (["scratch", "workspace", "shared"] as const).map((reach) => ({ verb: "delete" as const, reach, by: "rm", text: `of ${reach}` }));
  expect(eventText({ type: "call", session: "s", approach, effects })).toBe("calls catalog/delete_asset asset_id=fact_sales: removes of workspace (workspace), removes of shared (shared)");
  const many = Array.from({ length: 5 }, (_, n) => ({ verb: "drop" as const, reach: "shared" as const, by: "psql", text: `table t${n}` }));
  expect(losses({ type: "call", effects: many })).toEqual(["drops table t0 (shared)", "drops table t1 (shared)", "drops table t2 (shared)", "and 2 more"]);
  expect(eventText({ type: "message", to: "s" })).toBe("a user writes to s");
  expect(eventText({ type: "reset", session: "s", by: "ann", why: "repaired" })).toBe("reset by ann: repaired");
  expect(reasonText("session_killed: loop_detected, 3 deletes on asset_id=fact_sales in 12s")).toBe("Loop detected: 3 deletes on asset_id=fact_sales in 12s");
  expect(reasonText("`run` gave the same failure 12 times. Stop here: no further calls.")).toBe("`run` gave the same failure 12 times.");
});

test("what was captured reads as it was sent, without a second pair of quotes", () => {
  const shown = (captured: unknown) => payload({ captured } as unknown as Parameters<typeof payload>[0]);
  expect(shown({ args: '{"key":"a.csv"}', is_error: true })).toBe('args {"key":"a.csv"}, is_error true');
  expect([shown("text"), shown(null), shown(undefined), shown([1])]).toEqual(["text", "", "", "[1]"]);
});
