// The page of `sprag scan --html`, as a person opens it: from a file, in a real browser.
import { test as base, expect } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { violations } from "../axe.ts";
import { binary } from "../sprag_server.ts";

const FIXTURES = resolve(import.meta.dirname, "../../../crates/sprag-scan/tests/scan/fixtures");
const EVIL = `</code><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

/** An agent that polls for an hour, whose tool answers with something that wants to be a page. */
function poller(): string {
  const start = Date.UTC(2026, 10, 16, 2, 0, 0);
  const lines = Array.from({ length: 240 }, (_, n) => [
    { type: "call", at: start + n * 15_000, session: "poller", id: `c${n}`, tool: "read_log", args: { command: `tail -n 20 ${EVIL}` } },
    { type: "step", at: start + n * 15_000 + 900, session: "poller", id: `c${n}`, result: `nothing new ${EVIL}` },
  ]);
  return lines.flat().map((line) => `${JSON.stringify(line)}\n`).join("");
}

const test = base.extend<{ address: string }>({
  address: async ({}, use) => {
    const program = binary();
    if (program === null) throw new Error("there is no sprag binary; build one with `cargo build -p sprag-cli` or name it with SPRAG_BIN");
    const folder = mkdtempSync(join(tmpdir(), "sprag-scan-"));
    writeFileSync(join(folder, "poller.jsonl"), poller());
    const page = join(folder, "loops.html");
    const clients = ["claude", "codex", "gemini", "copilot"].map((client) => join(FIXTURES, client));
    execFileSync(program, ["scan", ...clients, join(folder, "poller.jsonl"), "--html", page], { env: { HOME: folder } });
    await use(pathToFileURL(page).href);
    rmSync(folder, { recursive: true });
  },
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the page of a scan meets WCAG AA in ${colorScheme}`, async ({ browser, address }) => {
    const page = await (await browser.newContext({ colorScheme, bypassCSP: true })).newPage();
    await page.goto(address);
    expect(await violations(page)).toEqual([]);
    await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
    expect(await violations(page)).toEqual([]);
    const [paper, ink] = await page.evaluate(() => [getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.body).color]);
    const bright = (colour: string | undefined) => Number(/\d+/.exec(colour ?? "")?.[0]) > 127;
    expect([bright(paper), bright(ink)]).toEqual(colorScheme === "light" ? [true, false] : [false, true]);
    await page.context().close();
  });
}

test("it asks for nothing, runs nothing, and says what was found", async ({ page, address }) => {
  const asked: string[] = [];
  const said: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => said.push(message.text()));
  await page.goto(address);
  await page.waitForLoadState("networkidle");
  expect(asked).toEqual([address]);
  expect(said).toEqual([]);
  await expect(page).toHaveTitle(/^\d+ loops in \d+ sessions · Sprag$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^\d+ loops in \d+ sessions$/);
  expect(await page.locator("img, script, iframe").count()).toBe(0);
  await expect(page.getByText("sprag install claude")).toBeVisible();
});

test("each loop has a timeline with a stroke where a guard would have spoken, and its calls to open", async ({ page, address }) => {
  await page.goto(address);
  const cards = page.locator(".card");
  const pictures = page.getByRole("img", { name: /calls/ });
  expect(await pictures.count()).toBe(await cards.count());
  const polling = cards.filter({ hasText: "read_log" });
  await expect(polling.locator("line.stop")).toHaveCount(1);
  expect(await polling.locator("line.saved").count()).toBeGreaterThan(50);
  await expect(polling.getByText(EVIL).first()).toBeVisible();
  await expect(polling.getByRole("table")).toBeHidden();
  await polling.getByText("Its calls").click();
  await expect(polling.getByRole("table")).toBeVisible();
  await expect(polling.getByText(/calls left out/)).toBeVisible();
});

test("it is no wider than its screen, from a phone to 4K", async ({ browser, address }) => {
  for (const [width, height] of [[360, 740], [820, 1180], [3840, 2160]] as const) {
    const page = await (await browser.newContext({ viewport: { width, height } })).newPage();
    await page.goto(address);
    await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `${width}`).toBeLessThanOrEqual(width);
    await page.context().close();
  }
});
