// Wherever a rule is named, its name leads to its explanation: also in rows that are clicked, and on a phone.
import { violations } from "../axe.ts";
import { RULES } from "../../src/api/generated.ts";
import { busyHouse, cleanUpLoop } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";
import type { Page } from "@playwright/test";

/** Names of rules that stand on the page as plain text. */
function plain(page: Page): Promise<string[]> {
  return page.evaluate((rules) => {
    const names = new Set(rules);
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? "";
      const place = node.parentElement;
      if (!names.has(text) || !place || place.closest("a[href^='/rules/'], option, label, h1, code, textarea, pre")) continue;
      if (place.checkVisibility()) found.push(`${text} in ${place.outerHTML.slice(0, 120)}`);
    }
    return found;
  }, RULES as readonly string[]);
}

const PLACES: { path: string; rule: string; of: string; open?: (page: Page) => Promise<void> }[] = [
  { path: "/sessions/nightly-cleanup", rule: "destructive.volume", of: "[role=table][aria-label=Events] [role=row]" },
  { path: "/sessions/nightly-cleanup", rule: "destructive.volume", of: ".state .mark" },
  { path: "/sessions?state=killed", rule: "destructive.volume", of: "[role=table][aria-label=Sessions] [role=row]" },
  { path: "/flows/release-2026.11", rule: "flow.depth", of: "[aria-label=Messages] li" },
  { path: "/flows/release-2026.11", rule: "flow.depth", of: "[aria-label='Call tree']" },
  { path: "/log?verdict=kill", rule: "destructive.volume", of: "[role=table][aria-label=Records] [role=row]" },
  { path: "/stops", rule: "destructive.volume", of: "table.list td" },
  { path: "/", rule: "destructive.volume", of: "main li" },
  { path: "/agents/cleaner", rule: "destructive.volume", of: "main li" },
  { path: "/sessions/nightly-cleanup?set=destructive.max_calls:2", rule: "destructive.volume", of: "[aria-label='Try another policy'] li" },
];

for (const width of [390, 1440]) {
  test(`a rule named in a row that is clicked is a link all the same, ${width} px`, async ({ page, server }) => {
    await server.tellMany(busyHouse());
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ reducedMotion: "reduce" });
    await server.open(page);
    const found: string[] = [];
    for (const { path, rule, of } of PLACES) {
      await page.goto(server.url + path);
      const link = page.locator(of).locator(`a[href="/rules/${rule}"]`).first();
      await expect(link, `${path}: ${of}`).toBeVisible();
      found.push(...(await plain(page)).map((one) => `${path}: ${one}`), ...(await violations(page)).map((one) => `${path}: ${one}`));
      await link.scrollIntoViewIfNeeded();
      const box = await link.boundingBox();
      if (!box || box.width < 24 || box.x < 0 || box.x + box.width > width) found.push(`${path}: the link is ${JSON.stringify(box)}`);
    }
    expect(found).toEqual([]);
  });
}

test("the rule of a row is opened by keyboard, and the row still by its own button", async ({ page, server }) => {
  await server.tellMany(cleanUpLoop("nightly"));
  await server.open(page, "/log?verdict=kill");
  const row = page.getByRole("table", { name: "Records" }).getByRole("row").filter({ hasText: "destructive.volume" });
  await row.getByRole("button").focus();
  await page.keyboard.press("Tab");
  await expect(row.getByRole("link", { name: "destructive.volume" })).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: /^Record \d+/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/rules\/destructive\.volume$/);
});
