// Calls that wait for a person. The server's answers about approvals are the test's own, so that every state can be
// shown; the page, the session and its events are real.
import { readFileSync, writeFileSync } from "node:fs";
import type { Page, Route } from "@playwright/test";
import { violations } from "../axe.ts";
import { cleanUpLoop } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

interface Asked {
  answered: unknown[];
}

async function waiting(page: Page, session: string): Promise<Asked> {
  const asked: Asked = { answered: [] };
  const now = Date.now();
  let open = [
    { approval: "k7f3wq2m", session, state: "open", agent: "cleaner", rule: "destructive.sweeping", call: "git push --force origin main", why: "`git push --force` replaces the history of `main`, a protected branch.", asked_at: now - 40_000, expires_at: now + 560_000, seq: 12, commands: ["git push"], root: "/srv/app", by: null, said: null },
    { approval: "p2d9xk4c", session, state: "open", agent: null, rule: "destructive.volume", call: "rm -rf /srv/data/old", why: "3 deletes outside of the project within 60s.", asked_at: now - 5000, expires_at: now + 595_000, seq: 9, commands: [], root: null, by: null, said: null },
  ];
  await page.route(/\/v1\/approvals(\/.*)?$/, async (route: Route) => {
    if (route.request().method() === "POST") {
      const code = new URL(route.request().url()).pathname.split("/").at(-1);
      asked.answered.push([code, route.request().postDataJSON()]);
      open = open.filter((one) => one.approval !== code);
      return route.fulfill({ json: { approval: code, state: "approved" } });
    }
    return route.fulfill({ json: { approvals: open } });
  });
  return asked;
}

test("calls that wait for a person stand first, in words, with what happened before", async ({ page, server }) => {
  await server.tell(cleanUpLoop("night"));
  const asked = await waiting(page, "night");
  await server.open(page);
  const section = page.getByRole("region", { name: "Waiting for you" });
  await expect(section.getByRole("heading")).toHaveText("2 calls wait for you");
  const first = section.getByRole("listitem").filter({ hasText: "git push --force origin main" });
  await expect(first).toContainText("git push --force replaces the history of main, a protected branch.");
  await expect(first).toContainText("agent cleaner");
  await expect(first).toContainText(/expires in 9m/);
  await first.getByText("What happened before").click();
  await expect(first.getByRole("list").getByRole("listitem").first()).toBeVisible();
  await first.getByRole("button", { name: "Approve once" }).click();
  await expect(section.getByRole("heading")).toHaveText("1 call waits for you");
  await section.getByRole("button", { name: "Decline…" }).click();
  await page.getByLabel(/^Why\?/).fill("not on a Friday");
  await page.getByRole("button", { name: "Decline", exact: true }).click();
  await expect(section).toHaveCount(0);
  expect(asked.answered).toEqual([
    ["k7f3wq2m", { answer: "approve" }],
    ["p2d9xk4c", { answer: "decline", why: "not on a Friday" }],
  ]);
});

/** A call that the guard asks about: a whole place would go. */
const destroys = (session: string) => ({ type: "call", session, agent: "infra", tool: "Bash", root: "/srv/app", args: { command: "terraform destroy -auto-approve" } });

for (const [name, choice, written] of [
  ["in one project", /^In the project/, '[destructive]\nallow = ["terraform destroy in /srv/app"]\n'],
  ["for one agent", /^For agent/, '[[override]]\nagent = "infra"\ndestructive.allow = ["terraform destroy"]\n'],
] as const) {
  test(`allowing a command from now on ${name} changes the policy and approves the call`, async ({ page, server }) => {
    const [asked] = await server.tell([destroys("night")]);
    expect(asked?.verdict).toBe("ask");
    await server.open(page);
    const section = page.getByRole("region", { name: "Waiting for you" });
    await section.getByRole("button", { name: "Always allow…" }).click();
    await expect(page.getByRole("dialog")).toContainText("terraform destroy");
    await page.getByRole("radio", { name: choice }).check();
    await page.getByRole("button", { name: "Change the policy and approve" }).click();
    await expect(section).toHaveCount(0);
    expect(readFileSync(server.policy, "utf8")).toBe(written);
    const [again, later] = await server.tell([destroys("night"), destroys("morning")]);
    expect([again?.verdict, later?.verdict]).toEqual(["allow", "allow"]);
  });
}

test("a call without a command that a policy could name is approved once or declined, and no more", async ({ page, server }) => {
  writeFileSync(server.policy, '[rules]\n"access.denied" = "ask"\n[access]\ndeny = ["rm_*"]\n');
  await expect(async () => {
    const [asked] = await server.tell([{ type: "call", session: `s${Date.now()}`, agent: "cleaner", tool: "rm_all" }]);
    expect(asked?.verdict).toBe("ask");
  }).toPass();
  await server.open(page);
  const section = page.getByRole("region", { name: "Waiting for you" });
  await expect(section.getByRole("button", { name: "Approve once" }).first()).toBeVisible();
  await expect(section.getByRole("button", { name: "Always allow…" })).toHaveCount(0);
});

for (const [colorScheme, width] of [["light", 1440], ["dark", 1440], ["light", 390], ["dark", 390]] as const) {
  test(`approvals fit and meet WCAG AA in ${colorScheme} at ${width} px`, async ({ browser, server }, info) => {
    await server.tell(cleanUpLoop("night"));
    const page = await (await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width, height: 844 } })).newPage();
    await waiting(page, "night");
    await server.open(page);
    const section = page.getByRole("region", { name: "Waiting for you" });
    await section.getByText("What happened before").first().click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    for (const button of await section.getByRole("button").all()) {
      const box = await button.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= width).toBe(true);
    }
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: info.outputPath("approvals.png") });
    if (process.env["SPRAG_SHOTS"]) await page.screenshot({ path: `${process.env["SPRAG_SHOTS"]}/approvals-${colorScheme}-${width}.png` });
    await page.context().close();
  });
}
