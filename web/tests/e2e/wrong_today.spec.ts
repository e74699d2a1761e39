// Each of these was wrong once: the test is named after it.
import { cleanUpLoop, editTest, honest, worked } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

test("an unknown address shows a page to a browser and a problem to a program", async ({ page, server }) => {
  const told = await fetch(`${server.url}/whatever`);
  expect([told.status, told.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  const answer = await page.request.get(`${server.url}/whatever`, { headers: { accept: "text/html" } });
  expect([answer.status(), answer.headers()["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
});

test("a lost connection has no green dot", async ({ page, server }) => {
  await server.open(page);
  const dot = page.getByRole("status").filter({ hasText: /Live|Disconnected|Connecting/ }).locator(".dot");
  const colour = () => dot.evaluate((node) => getComputedStyle(node).backgroundColor);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  const live = await colour();
  await server.stop();
  await expect(page.getByText("Disconnected").first()).toBeVisible();
  expect(await colour()).not.toBe(live);
});

test("the log holds still under a reader who scrolled, and says what is new", async ({ page, server }) => {
  await server.tellMany(honest("old", "coder", 120));
  await server.open(page, "/log");
  const rows = page.getByRole("rowgroup", { name: /records, newest first/ });
  await rows.evaluate((node) => node.scrollTo(0, 2000));
  const shown = () => rows.getByRole("row").filter({ visible: true }).nth(10).innerText();
  await expect(rows.getByRole("row").first()).not.toContainText("used");
  const before = await shown();
  await server.tellMany(honest("new", "coder", 3));
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toBeVisible();
  expect(await shown()).toBe(before);
  await page.getByRole("button", { name: /^\d+ new$/ }).click();
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toHaveCount(0);
});

test("at 390 px every action of the session list is on the screen", async ({ browser, server }) => {
  await server.tellMany(honest("phone", "coder", 3));
  const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await server.open(page, "/sessions");
  const box = await page.getByRole("button", { name: "Kill phone" }).boundingBox();
  expect(box && box.x + box.width <= 390).toBe(true);
  await page.context().close();
});

test("at 390 px every page is one tap away", async ({ browser, server }) => {
  const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await server.open(page);
  const links = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").all();
  expect(links).toHaveLength(10);
  for (const link of links) {
    const box = await link.boundingBox();
    expect(box && box.width >= 24 && box.x >= 0 && box.x + box.width <= 390, await link.innerText()).toBe(true);
  }
  await page.context().close();
});

test("an open record leaves room for what happened in the other rows", async ({ browser, server }) => {
  await server.tellMany(cleanUpLoop("nightly"));
  for (const width of [390, 1440]) {
    const page = await (await browser.newContext({ viewport: { width, height: 900 } })).newPage();
    await server.open(page, "/log?verdict=kill");
    const words = page.getByRole("table", { name: "Records" }).getByRole("row").nth(1).getByRole("button");
    await words.click();
    await page.getByRole("region", { name: /^Record \d+/ }).waitFor();
    expect((await words.boundingBox())?.width, `${width} px`).toBeGreaterThan(120);
    await page.context().close();
  }
});

test("the overview shows the time that was asked for and nothing after it", async ({ page, server }) => {
  await server.tellMany(cleanUpLoop("nightly"));
  const shown = async (minutes: number) => {
    const at = (ms: number) => new Date(ms - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    const until = Date.now() + minutes * 60_000;
    await page.goto(`${server.url}/?${new URLSearchParams({ since: at(until - 3_600_000), until: at(until) })}`);
    await page.getByRole("region", { name: "Rules that fired" }).getByText(/destructive\.volume|No rule fired/).waitFor();
    return page.getByRole("region", { name: "Rules that fired" }).getByText("destructive.volume").count();
  };
  await server.open(page);
  expect([await shown(10), await shown(-120)]).toEqual([1, 0]);
});

test("the bar of today stands over its date", async ({ page, server }) => {
  await server.tellMany(honest("paid", "coder", 3));
  await server.open(page, "/agents/coder");
  const chart = page.getByRole("img", { name: /over time/ });
  const [bar, label] = [chart.locator("i").last(), page.locator(".axis span").last()];
  const middle = async (part: typeof bar) => {
    const box = await part.boundingBox();
    return box ? box.x + box.width / 2 : NaN;
  };
  expect(Math.abs((await middle(bar)) - (await middle(label)))).toBeLessThan(4);
});

test("a policy with an override is not shown as all defaults, and rules show no backticks", async ({ page, server }) => {
  await server.put("/v1/policy", { text: '[[override]]\nagent = "night"\nflow.max_depth = 2\n', why: "test" });
  await server.open(page, "/policy");
  await expect(page.getByText("1 override sets others for some agents or sessions.")).toBeVisible();
  await expect(page.getByRole("main").getByText("`")).toHaveCount(0);
});

test("what-if counts what follows a would-be stop up to the reset, and nothing of the next generation", async ({ page, server }) => {
  const remove = (n: number) => worked("s", "cleaner", "catalog", "delete_asset", { asset_id: `old_${n}` }, `deleted ${n}`);
  const generation = (n: number) => [...remove(n), ...remove(n + 1), ...worked("s", "cleaner", "catalog", "get_asset", { n }, `asset ${n}`)];
  await server.tell([...generation(1), { type: "reset", session: "s", by: "ann", why: "go on" }, ...generation(5), ...worked("other", "cleaner", "catalog", "get_asset", {}, "fine")]);
  await server.open(page, "/sessions/s?set=destructive.max_calls:2");
  const panel = page.getByRole("region", { name: "Try another policy" });
  await expect(panel).toContainText("Would have stopped at event 3. 3 events after it would not have happened.");
  await expect(panel.getByText("events saved").locator("+ dd")).toHaveText("6");
});

test("the progress matrix shows what the progress rules made of the step, and nothing else", async ({ page, server }) => {
  await server.tell(editTest("edits"));
  const { items } = (await server.get("/v1/sessions/edits/replay?limit=100")) as { items: { seq: number; state: { progress: string | null } | null }[] };
  const labels: Record<string, string> = { full_progress: "progress", world_changed: "world changed", stuck: "stuck", full_stagnation: "stagnation" };
  const byProgress = new Map(items.map((item) => [item.state?.progress ?? null, item.seq]));
  expect(byProgress.size).toBeGreaterThan(2);
  await server.open(page);
  for (const [progress, seq] of byProgress) {
    await page.goto(`${server.url}/sessions/edits?at=${seq}`);
    await page.locator(".state:not(.stale) h3").first().waitFor();
    const matrix = page.getByRole("figure", { name: "Progress of this step" });
    if (progress === null) await expect(matrix).toHaveCount(0);
    else await expect(matrix.locator("[aria-current=true]"), progress).toHaveText(progress in labels ? [labels[progress] ?? ""] : []);
  }
});
