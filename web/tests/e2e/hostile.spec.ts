import type { Page } from "@playwright/test";
import { HOSTILE, type WireEvent } from "../traffic.ts";
import { expect, SpragServer, test } from "../sprag_server.ts";

/** Every way in: ids, agents, tools, servers, arguments, results, words, reasons. */
function hostileEvents(): WireEvent[] {
  return Object.values(HOSTILE).flatMap((name) => [
    { type: "message", to: name, content: name, to_agent: name, flow: `flow ${name}`.slice(0, 250) },
    { type: "call", session: name, agent: name, id: "1", server: name, tool: name, args: { [name]: name, asset_id: name } },
    { type: "step", session: name, id: "1", result: `${name}${"x".repeat(200_000)}`, is_error: true },
    { type: "step", session: name, approach: name, outcome: `${name}${"y".repeat(1_000_000)}` },
    ...[1, 2, 3].map((n) => ({ type: "call", session: name, id: `d${n}`, tool: `delete_${name}`.slice(0, 250), args: { asset_id: name } })),
    { type: "message", from: name, to: `${name}2`.slice(0, 250), flow: `flow ${name}`.slice(0, 250), content: "x" },
  ]);
}

/** Nothing ran, nothing asked elsewhere, nothing broke the content policy. */
async function unharmed(page: Page, seen: { foreign: string[]; errors: string[] }): Promise<void> {
  expect(await page.title()).toMatch(/ · Sprag$/);
  expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
  expect(seen).toEqual({ foreign: [], errors: [] });
}

test("nothing that an agent sends is ever run or rendered as HTML", async ({ browser }) => {
  test.setTimeout(180_000);
  const server = new SpragServer(["--capture", "full"]);
  await server.start();
  await server.tell(hostileEvents());
  const page = await (await browser.newContext()).newPage();
  const seen = { foreign: [] as string[], errors: [] as string[] };
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url)) seen.foreign.push(request.url());
  });
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") seen.errors.push(message.text());
  });
  await server.open(page);
  await expect(page).toHaveTitle("Overview · Sprag");
  await expect(page.getByRole("region", { name: "Stopped now" }).getByText("<img src=x").first()).toBeVisible();
  await unharmed(page, seen);
  await page.goto(`${server.url}/sessions`);
  await expect(page.getByText("invoice\\u{202E}gnp.exe\\u{202C}").first()).toBeVisible();
  await expect(page.getByText("pay\\u{200B}\\u{200B}load\\u{2066}\\u{2069}").first()).toBeVisible();
  await unharmed(page, seen);
  for (const name of Object.values(HOSTILE)) {
    await page.goto(`${server.url}/sessions/${encodeURIComponent(name)}`);
    await page.getByRole("slider", { name: "Place in the session" }).waitFor();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("heading", { name: "Captured" })).toBeVisible();
    await expect(page.getByRole("button", { name: /show more/ }).last()).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.goto(`${server.url}/flows/${encodeURIComponent(`flow ${name}`.slice(0, 250))}`);
    await page.getByRole("group", { name: "Call tree" }).waitFor();
    await unharmed(page, seen);
  }
  await page.goto(`${server.url}/log`);
  await page.getByRole("table", { name: "Records" }).getByRole("row").first().waitFor();
  await unharmed(page, seen);
  await page.context().close();
  await server.end();
});

test("the content policy lets a page do nothing that does not come from the server", async ({ page, server }) => {
  const answer = await page.goto(server.url);
  const policy = (await answer?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain("unsafe");
  await server.open(page);
  const written = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<b>no</b>";
      return "written";
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(written).toBe("TypeError");
});
