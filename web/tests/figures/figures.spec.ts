// What the dashboard costs, measured and printed: `npm run figures`. Numbers of a machine, so they pass or
// fail nothing; what must hold is in the other tests.
import { writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { honest, type WireEvent } from "../traffic.ts";
import { expect, SpragServer, test as base } from "../sprag_server.ts";

/** A server under a policy of one's own, which ends with the test, however that ends. */
const test = base.extend<{ started: (policy?: string) => Promise<SpragServer> }>({
  started: async ({}, use) => {
    const servers: SpragServer[] = [];
    await use(async (policy = "") => {
      const server = new SpragServer();
      servers.push(server);
      writeFileSync(server.policy, policy);
      await server.start();
      return server;
    });
    for (const server of servers) await server.end();
  },
});

function tell(name: string, value: string): void {
  console.log(`FIGURE ${name}: ${value}`);
}

function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Watches the gaps between frames until it is asked. */
async function watchFrames(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(() => {
    const gaps: number[] = [];
    const state = { gaps, on: true };
    (window as unknown as { watched: typeof state }).watched = state;
    let last = performance.now();
    const tick = (now: number) => {
      gaps.push(now - last);
      last = now;
      if (state.on) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  return async () => {
    const gaps = await page.evaluate(() => {
      const { watched } = window as unknown as { watched: { gaps: number[]; on: boolean } };
      watched.on = false;
      return watched.gaps.slice(1);
    });
    const sorted = gaps.toSorted((a, b) => a - b);
    const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(0);
    return `${gaps.length} frames, median gap ${at(0.5)} ms, 99 % under ${at(0.99)} ms, longest ${(sorted.at(-1) ?? 0).toFixed(0)} ms`;
  };
}

async function inLots(server: SpragServer, events: WireEvent[], lot = 2000): Promise<void> {
  for (let n = 0; n < events.length; n += lot) await server.tellMany(events.slice(n, n + lot));
}

test("first paint", async ({ page, started }) => {
  const server = await started();
  await server.tellMany(honest("s1", "coder", 20));
  await server.open(page);
  const paints: number[] = [];
  const ready: number[] = [];
  for (let n = 0; n < 15; n += 1) {
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByText("Nobody is stopped").waitFor();
    ready.push(await page.evaluate(() => performance.now()));
    const paint = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    paints.push((await paint.jsonValue()) ?? NaN);
  }
  tell("first contentful paint", `median ${middle(paints).toFixed(0)} ms, worst ${Math.max(...paints).toFixed(0)} ms of ${paints.length}`);
  tell("overview with its data", `median ${middle(ready).toFixed(0)} ms`);
});

test("a thousand events a second", async ({ page, started }) => {
  const server = await started();
  // Before the first event a page of its own stands there.
  await server.tellMany(honest("s1", "coder", 1));
  await server.open(page);
  await page.getByText("Nobody is stopped").waitFor();
  const ask = await watchFrames(page);
  const SECONDS = 10;
  const tile = page.locator(".tile", { hasText: "Events" }).locator(".value");
  const before = Number((await tile.getAttribute("title"))?.replaceAll(",", ""));
  const sent = { n: 0 };
  const begin = performance.now();
  for (let lot = 0; lot < SECONDS * 10; lot += 1) {
    const events = Array.from({ length: 100 }, (_, n) => ({ type: "call", session: `load-${n}`, agent: "load", tool: "read", args: { lot, n } }));
    await server.tellMany(events);
    sent.n += events.length;
    await page.waitForTimeout(Math.max(0, begin + (lot + 1) * 100 - performance.now()));
  }
  const seconds = (performance.now() - begin) / 1000;
  await expect(tile).toHaveAttribute("title", (before + sent.n).toLocaleString("en"));
  tell("1,000 events a second", `${sent.n} in ${seconds.toFixed(1)} s (${Math.round(sent.n / seconds)}/s): ${await ask()}`);
});

test("a session of 50,000 events", async ({ page, started }) => {
  const server = await started(`[rules]\n"budget.actions" = "off"\n`);
  const events = honest("long", "coder", 25_000).slice(0, 50_000);
  await inLots(server, events);
  await server.open(page);
  const begin = performance.now();
  await page.goto(`${server.url}/sessions/long`);
  const slider = page.getByRole("slider", { name: "Place in the session" });
  await slider.waitFor();
  const first = performance.now() - begin;
  await expect(slider).toHaveAttribute("max", "49999", { timeout: 120_000 });
  tell("50,000 events", `first drawn after ${first.toFixed(0)} ms, all loaded after ${(performance.now() - begin).toFixed(0)} ms`);
  let ask = await watchFrames(page);
  for (let n = 0; n <= 100; n += 1) await slider.fill(String(Math.min(49_999, n * 500)));
  tell("50,000 events, scrubbed over 100 places", await ask());
  await slider.fill("25000");
  await page.getByLabel("Speed").selectOption({ label: "250 / s" });
  ask = await watchFrames(page);
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(5000);
  await page.getByRole("button", { name: "Pause" }).click();
  tell("50,000 events, played at 250 a second for 5 s", await ask());
  await page.getByRole("button", { name: "Fit" }).click();
  ask = await watchFrames(page);
  for (let n = 0; n < 50; n += 1) await page.keyboard.press("ArrowLeft");
  tell("50,000 events, all in view, 50 steps", await ask());
  const state = performance.now();
  await slider.fill("47999");
  // The server folds all events before it.
  await expect(page.locator(".state:not(.stale) [role=meter]").first()).toBeVisible({ timeout: 180_000 });
  tell("50,000 events, state at the 48,000th", `${(performance.now() - state).toFixed(0)} ms`);
  const memory = await page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize);
  tell("50,000 events, memory of the page", `${(memory / 1e6).toFixed(0)} MB`);
});

test("a table of 100,000 sessions", async ({ page, started }) => {
  const server = await started();
  await inLots(server, Array.from({ length: 100_000 }, (_, n) => ({ type: "call", session: `session-${String(n).padStart(6, "0")}`, agent: `agent-${n % 50}`, tool: "read", args: { n } })));
  await server.open(page);
  let begin = performance.now();
  await page.goto(`${server.url}/sessions?sort=id&order=asc`);
  await page.getByText("session-000000").waitFor();
  tell("100,000 sessions, first rows", `${(performance.now() - begin).toFixed(0)} ms`);
  const table = page.getByRole("rowgroup", { name: "100,000 sessions" });
  const ask = await watchFrames(page);
  for (let n = 1; n <= 20; n += 1) {
    await table.evaluate((element, part) => (element.scrollTop = element.scrollHeight * part), n / 20);
    await page.waitForTimeout(50);
  }
  tell("100,000 sessions, scrolled to the end in 20 jumps", await ask());
  begin = performance.now();
  await page.getByText("session-099999").waitFor();
  tell("100,000 sessions, last row after the last jump", `${(performance.now() - begin).toFixed(0)} ms`);
  begin = performance.now();
  await page.getByRole("searchbox").fill("session-0777");
  await expect(page.getByRole("status").filter({ hasText: "100 sessions" })).toBeVisible();
  tell("100,000 sessions, searched (200 ms of it wait for the next key)", `${(performance.now() - begin).toFixed(0)} ms`);
});
