// Every page for everybody: light and dark, on a phone and on a desk, for screen readers and without a mouse.
import { violations } from "../axe.ts";
import { expect, test } from "../sprag_server.ts";
import { busyHouse } from "../traffic.ts";
import type { SpragServer } from "../sprag_server.ts";
import type { Page } from "@playwright/test";

const PAGES = [
  "/",
  "/?range=24h",
  "/stops",
  "/stops?kind=shadow",
  "/stops/GROUP",
  "/sessions",
  "/sessions?state=killed",
  "/sessions/nightly-cleanup",
  "/sessions/nightly-cleanup?set=destructive.max_calls:2",
  "/agents",
  "/agents/coder",
  "/flows",
  "/flows/release-2026.11",
  "/spend",
  "/spend?by=session&since=2026-01-01T00:00",
  "/log",
  "/log?verdict=block,kill&payload=show",
  "/policy",
  "/policy?tab=edit",
  "/policy?tab=history",
  "/rules",
  "/rules/destructive.target",
  "/notifications",
  "/nowhere",
];
const WIDTHS = [390, 1440];

async function addresses(server: SpragServer): Promise<string[]> {
  const { items } = (await server.get("/v1/stops")) as { items: { group: string }[] };
  return PAGES.map((path) => path.replace("GROUP", items[0]?.group ?? "none"));
}

/** Nothing is being fetched any more, and what came is drawn. */
async function settled(page: Page): Promise<void> {
  await page.locator("main h1, main h2, main .title").first().waitFor();
  await expect(page.locator(".skeleton")).toHaveCount(0);
}

for (const theme of ["light", "dark"] as const) {
  for (const width of WIDTHS) {
    test(`axe finds nothing on any page and nothing is cut off, ${theme}, ${width} px`, async ({ page, server }) => {
      await server.tellMany(busyHouse());
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await server.open(page);
      const found: string[] = [];
      for (const path of await addresses(server)) {
        await page.goto(server.url + path);
        await settled(page);
        found.push(...(await violations(page)).map((one) => `${path}: ${one}`));
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) found.push(`${path}: ${over} px wider than the window`);
      }
      expect(found).toEqual([]);
    });
  }
}

test("every button, link and field of every page is reached by the tab key, and the focus is seen", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page);
  const missed: string[] = [];
  for (const path of await addresses(server)) {
    await page.goto(server.url + path);
    await settled(page);
    // Rows that scroll are many; one screen of them is enough.
    const wanted = await page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, [tabindex='0']")];
      const usable = all.filter((one) => !(one as HTMLButtonElement).disabled && one.tabIndex >= 0 && one.checkVisibility() && one.getClientRects().length > 0);
      // Of a group of radio buttons one takes the focus, and the arrows go on.
      const first = new Set<string>();
      const single = usable.filter((one) => {
        if (!(one instanceof HTMLInputElement) || one.type !== "radio") return true;
        return one.checked && !first.has(one.name) && first.add(one.name);
      });
      single.forEach((one, n) => (one.dataset["wanted"] = String(n)));
      return single.length;
    });
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const reached = new Set<string>();
    let unseen = 0;
    for (let n = 0; n < wanted + 40 && reached.size < wanted; n += 1) {
      await page.keyboard.press("Tab");
      const { id, seen } = await page.evaluate(() => {
        const one = document.activeElement as HTMLElement | null;
        const style = one ? getComputedStyle(one) : null;
        const label = one?.closest("label");
        return { id: one?.dataset["wanted"], seen: style === null || style.outlineStyle !== "none" || one?.id === "main" || (label !== null && label !== undefined) };
      });
      if (id !== undefined) reached.add(id);
      if (id !== undefined && !seen) unseen += 1;
    }
    // What comes and goes with live data may differ by a little; a part that can't be reached does not.
    if (reached.size < wanted * 0.95) missed.push(`${path}: ${reached.size} of ${wanted}`);
    if (unseen > 0) missed.push(`${path}: ${unseen} without a visible focus`);
  }
  expect(missed).toEqual([]);
});

test("the keys `?`, `/` and `g` work without a mouse", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page, "/stops");
  await settled(page);
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.type("fact_sales");
  await expect(page).toHaveURL(/q=fact_sales/);
  await page.getByRole("searchbox").blur();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page).toHaveURL(/\/spend$/);
});

test("no page asks for anything while nothing happens", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page);
  // Every timer of the page is set off at once; only a stream of records would make it ask.
  await page.clock.install();
  for (const path of ["/", "/stops", "/sessions", "/agents", "/flows", "/spend", "/log", "/sessions/nightly-cleanup", "/flows/release-2026.11"]) {
    await page.goto(server.url + path);
    await settled(page);
    await page.clock.runFor(3_000);
    const asked: string[] = [];
    const note = (request: { url: () => string }) => asked.push(request.url());
    page.on("request", note);
    await page.clock.runFor(120_000);
    page.off("request", note);
    expect(asked.filter((url) => url.includes("/v1/")), path).toEqual([]);
  }
});

test("a viewer sees every page and finds no button that changes anything", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  const token = await server.addToken("vera", "viewer");
  await page.goto(server.url);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await expect(page.getByText("vera (viewer)")).toBeVisible();
  const orders = /^(Kill|Reset|Pause…|Wrong|This stop was wrong|Send a test|Approve|Decline)/;
  for (const path of await addresses(server)) {
    await page.goto(server.url + path);
    await settled(page);
    expect(await page.getByRole("button", { name: orders }).allTextContents(), path).toEqual([]);
  }
});

test("a fresh server shows what to type and turns into the dashboard with the first event", async ({ page, server }) => {
  await server.open(page);
  await expect(page.getByText("Waiting for the first event…")).toBeVisible();
  await expect(page.getByText("sprag install", { exact: true })).toBeVisible();
  await server.tell([{ type: "call", session: "try", agent: "me", tool: "hello" }]);
  await expect(page.getByText("Active sessions")).toBeVisible();
  await expect(page.getByText("Waiting for the first event…")).toHaveCount(0);
});

test("the log stops on a pause, counts what is new and goes on", async ({ page, server }) => {
  await server.tellMany(busyHouse());
  await server.open(page, "/log");
  await settled(page);
  await page.getByRole("button", { name: "Pause" }).click();
  await server.tell([{ type: "call", session: "later-1", tool: "hello" }, { type: "call", session: "later-2", tool: "hello" }]);
  await expect(page.getByRole("button", { name: "2 new" })).toBeVisible();
  await expect(page.getByText("later-1")).toHaveCount(0);
  await page.getByRole("button", { name: "Go on" }).click();
  await expect(page.getByText("later-2")).toBeVisible();
});
