// The pictures of the documentation: `npm run screenshots`. What they show is the demo, as anyone sees it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, SpragServer, test } from "../sprag_server.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/screenshots");
/** How long the demo plays before the pictures are taken: long enough for every story to end at least once. */
const PLAYS_MS = Number(process.env["SPRAG_PLAYS_MS"] ?? 150_000);

interface Shot {
  name: string;
  path: string;
  act?: (page: Page) => Promise<void>;
}

const shots = (flow: string): Shot[] => [
  { name: "overview", path: "/?range=15m" },
  { name: "stops", path: "/stops" },
  { name: "sessions", path: "/sessions" },
  { name: "agent", path: "/agents/cleaner" },
  { name: "flows", path: "/flows" },
  { name: "spend", path: "/spend" },
  { name: "rule", path: "/rules/destructive.volume" },
  { name: "session", path: "/sessions/cleaner-1" },
  { name: "what-if", path: "/sessions/cleaner-1?set=destructive.max_calls:2", act: async (page) => page.getByText(/Would have stopped at/).scrollIntoViewIfNeeded() },
  { name: "flow", path: `/flows/${flow}` },
  { name: "policy", path: "/policy" },
  {
    name: "policy-edit",
    path: "/policy?tab=edit",
    act: async (page) => {
      const text = page.getByRole("textbox", { name: "Policy as TOML" });
      await text.fill(`${await text.inputValue()}\n[flow]\nmax_depth = 4\n`);
      await page.getByRole("button", { name: "Try on the last 24 h" }).click();
      await page.getByRole("region", { name: "Trial" }).waitFor();
    },
  },
  { name: "log", path: "/log" },
];

test("every page, light and dark", async ({ browser }) => {
  test.setTimeout(500_000);
  mkdirSync(FOLDER, { recursive: true });
  const server = new SpragServer(["--demo"]);
  await server.start();
  await new Promise((done) => setTimeout(done, PLAYS_MS));
  const refused = (await server.get("/v1/log?rule=flow.depth&limit=1")) as { items: { event: { flow: string } }[] };
  const flow = refused.items[0]?.event.flow ?? "";
  expect(flow).not.toBe("");
  await fetch(`${server.url}/v1/log/verify`, { method: "POST", headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" }, body: "{}" });
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await (await browser.newContext({ colorScheme, viewport: { width: 1440, height: 960 }, reducedMotion: "reduce" })).newPage();
    await server.open(page);
    for (const { name, path, act } of shots(flow)) {
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
