// The pictures of the documentation: `npm run screenshots`. The real server, fed by the traffic of a busy
// house at the pace of a fast one.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { busyHouse } from "../traffic.ts";
import { expect, SpragServer, test } from "../sprag_server.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/screenshots");
const POLICY = `# What we changed, and why.
[rules]
"flow.echo" = "shadow"         # two teams still argue about it

[call]
repeat = 6

[destructive]
max_calls = 3

[[override]]                   # it empties the staging tables every night
agent = "bulk-cleaner"
destructive.max_calls = 50
`;

/** Slow enough that time is seen to pass. */
const PACE_MS = Number(process.env["SPRAG_PACE_MS"] ?? 400);

interface Shot {
  name: string;
  path: string;
  act?: (page: Page) => Promise<void>;
}

const SHOTS: Shot[] = [
  { name: "overview", path: "/?range=15m" },
  { name: "sessions", path: "/sessions" },
  { name: "session", path: "/sessions/nightly-cleanup" },
  { name: "what-if", path: "/sessions/nightly-cleanup?set=destructive.max_calls:2", act: async (page) => page.getByText(/Would have stopped at/).scrollIntoViewIfNeeded() },
  { name: "flow", path: "/flows/release-2026.11" },
  { name: "policy", path: "/policy" },
  {
    name: "policy-edit",
    path: "/policy?tab=edit",
    act: async (page) => {
      await page.getByRole("textbox", { name: "Policy as TOML" }).fill(`${POLICY}\n[flow]\nmax_depth = 4\n`);
      await page.getByRole("button", { name: "Try on the last 24 h" }).click();
      await page.getByRole("region", { name: "Trial" }).waitFor();
    },
  },
  { name: "log", path: "/log" },
];

test("every page, light and dark", async ({ browser }) => {
  test.setTimeout(500_000);
  mkdirSync(FOLDER, { recursive: true });
  const server = new SpragServer();
  writeFileSync(server.policy, POLICY);
  await server.start();
  for (const event of busyHouse()) {
    await server.tell([event]);
    await new Promise((done) => setTimeout(done, PACE_MS));
  }
  await fetch(`${server.url}/v1/log/verify`, { method: "POST", headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" }, body: "{}" });
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await (await browser.newContext({ colorScheme, viewport: { width: 1440, height: 960 }, reducedMotion: "reduce" })).newPage();
    await server.open(page);
    for (const { name, path, act } of SHOTS) {
      await page.goto(server.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await expect(page.getByText("Loading…")).toHaveCount(0);
      await act?.(page);
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
    }
    await page.context().close();
  }
  await server.end();
});
