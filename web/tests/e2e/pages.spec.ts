import { readFileSync } from "node:fs";
import { violations } from "../axe.ts";
import { busyHouse, flowOfHelpers } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

const PAGES = ["/", "/sessions", "/sessions/nightly-cleanup", "/sessions/nightly-cleanup?set=destructive.max_calls:2", "/flows/release-2026.11", "/policy", "/policy?tab=edit", "/policy?tab=history", "/log"];

for (const colorScheme of ["light", "dark"] as const) {
  test(`the login page meets WCAG AA in ${colorScheme}`, async ({ browser, server }) => {
    const page = await (await browser.newContext({ colorScheme, bypassCSP: true })).newPage();
    await page.goto(server.url);
    await page.getByLabel("Token").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
}

test("no page is wider than its screen, from a phone to 4K", async ({ browser, server }) => {
  test.setTimeout(180_000);
  await server.tellMany(busyHouse());
  for (const [width, height] of [[360, 740], [820, 1180], [1280, 720], [3840, 2160]] as const) {
    const page = await (await browser.newContext({ viewport: { width, height } })).newPage();
    await server.open(page);
    for (const path of PAGES) {
      await page.goto(server.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await expect(page.getByText("Loading…")).toHaveCount(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${path} at ${width}`).toBeLessThanOrEqual(0);
    }
    await page.context().close();
  }
});

test("a flow shows who called whom and marks the refused call", async ({ page, server }) => {
  await server.tell(flowOfHelpers("release"));
  await server.open(page, "/flows/release");
  const tree = page.getByRole("group", { name: "Call tree" });
  for (const session of ["coordinator", "docs", "changelog", "benchmarks", "translator"]) await expect(tree.getByText(session, { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Chosen call" }).getByText("Agent call rejected: effective call depth 6 exceeds limit (max 5)")).toBeVisible();
  const stack = page.getByRole("region", { name: "Chosen call" }).getByRole("listitem");
  await expect(stack).toHaveText(["1coordinator", "2changelog", "3reviewer", "4security", "5legal", "6translator"]);
  await server.tell([{ type: "kill", session: "docs", by: "ops", why: "seen enough" }]);
  await page.reload();
  await expect(tree.locator("a", { has: page.locator("title", { hasText: "docs (docs): killed" }) }).locator(".mark.kill")).toBeVisible();
});

test("the log is searched, verified and exported", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page, "/log");
  const rows = page.getByRole("rowgroup", { name: /records, newest first/ }).getByRole("row");
  await page.getByRole("button", { name: "kill", exact: true }).click();
  await expect(page).toHaveURL(/verdict=kill/);
  await expect(rows.nth(1)).toContainText("kill");
  await expect(rows.filter({ hasText: "calls files/read_file" })).toHaveCount(0);
  await rows.nth(1).getByRole("button").click();
  await expect(page.getByRole("region", { name: /^Record \d+/ })).toContainText("nightly-cleanup");
  await page.getByRole("button", { name: "Verify now" }).click();
  await expect(page.getByText(/The log is whole/)).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const file = await (await downloading).path();
  const [first = "{}"] = readFileSync(file, "utf8").split("\n");
  expect(JSON.parse(first)).toMatchObject({ specversion: "1.0" });
});

test("sessions are filtered, sorted and searched by the server, and the address says how", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page, "/sessions");
  await page.getByRole("searchbox").fill("support-8813");
  await expect(page.getByRole("status").filter({ hasText: "9 sessions" })).toBeVisible();
  await page.getByRole("columnheader", { name: "Session" }).getByRole("button").click();
  await expect(page).toHaveURL(/q=support-8813.*sort=id.*order=asc/);
  await expect(page.getByRole("table", { name: "Sessions" }).getByRole("row").nth(1)).toContainText("support-88130");
  await page.reload();
  await expect(page.getByRole("searchbox")).toHaveValue("support-8813");
  await page.goto(`${server.url}/sessions?state=killed`);
  await expect(page.getByRole("table", { name: "Sessions" }).getByRole("row").nth(1)).toContainText("nightly-cleanup");
});

test("the whole replay works without a mouse", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page, "/sessions?q=nightly");
  await page.getByRole("searchbox").focus();
  for (let n = 0; n < 30; n += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.textContent === "nightly-cleanup")) break;
  }
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/sessions\/nightly-cleanup/);
  const slider = page.getByRole("slider", { name: "Place in the session" });
  await slider.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await expect(slider).toHaveValue("1");
});

test("the page and all of its parts stay under 200 KB compressed, and parts are kept for ever", async ({ page, server }) => {
  const sizes: number[] = [];
  const kept: string[] = [];
  page.on("response", async (response) => {
    if (response.url().includes("/v1/")) return;
    sizes.push(Number(response.headers()["content-length"] ?? 0));
    if (response.url().includes("/assets/")) kept.push(response.headers()["cache-control"] ?? "");
  });
  await page.goto(server.url);
  await page.getByLabel("Token").waitFor();
  expect(sizes.length).toBeGreaterThanOrEqual(3);
  expect(sizes.every((size) => size > 0)).toBe(true);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(200_000);
  expect(new Set(kept)).toEqual(new Set(["public, max-age=31536000, immutable"]));
});

test("a page that is not there says so, and so does a session", async ({ page, server }) => {
  await server.open(page, "/sessions/nobody");
  await expect(page.getByText("There is no session with this id")).toBeVisible();
  await page.goto(`${server.url}/flows/nothing`);
  await expect(page.getByText("There is no flow with this id")).toBeVisible();
});
