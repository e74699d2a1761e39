// The page behind a link in a notification: the real server sends it to a real receiver, the browser opens it.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { violations } from "../axe.ts";
import { SpragServer, expect, test } from "../sprag_server.ts";

const CALL = { type: "call", session: "night", agent: "infra", tool: "Bash", root: "/srv/app", args: { command: "terraform destroy -auto-approve" } };

interface Told {
  receiver: Server;
  server: SpragServer;
  link: () => Promise<string>;
}

/** A server whose notifications come here. Its public address is its own, as far as the browser is concerned. */
async function told(): Promise<Told> {
  const bodies: { link?: string }[] = [];
  const receiver = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      bodies.push(JSON.parse(text) as { link?: string });
      response.end();
    });
  });
  await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
  const { port } = receiver.address() as AddressInfo;
  const server = new SpragServer(["--notify-webhook", `http://127.0.0.1:${port}/`, "--public-url", "https://guard.example"]);
  await server.start();
  const link = async () => {
    await expect(() => expect(bodies.length).toBeGreaterThan(0)).toPass();
    return (bodies.at(-1)?.link ?? "").replace("https://guard.example", server.url);
  };
  return { receiver, server, link };
}

async function end({ receiver, server }: Told): Promise<void> {
  await server.stop();
  receiver.close();
}

test("a link shows the call and approves it once; opened again it says who was first", async ({ page }) => {
  const all = await told();
  await all.server.tell([CALL]);
  const link = await all.link();
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.method()} ${request.url()}`));
  await page.goto(link);
  await expect(page.getByText("An agent waits for your answer.")).toBeVisible();
  await expect(page.locator("#call")).toContainText("terraform destroy");
  await expect(page.locator("#why")).toContainText("a whole place where data lives");
  // The secret went nowhere but into the body of what the page posts, and is gone from the address.
  const secret = new URL(link).hash.slice(1);
  expect(sent.some((line) => line.includes(secret))).toBe(false);
  expect(page.url()).not.toContain(secret);
  const [before] = await all.server.tell([CALL]);
  expect(before?.verdict).toBe("ask");
  await page.getByRole("button", { name: "Approve once" }).click();
  await expect(page.getByText("Approved once: the agent may make this call now.")).toBeVisible();
  const other = await page.context().newPage();
  await other.goto(link);
  await expect(other.getByText("This call was approved by link to webhook already.")).toBeVisible();
  await expect(other.getByRole("button")).toHaveCount(0);
  const [after] = await all.server.tell([CALL]);
  expect(after?.verdict).toBe("allow");
  await end(all);
});

test("a link declines, and one for another call is refused", async ({ page }) => {
  const all = await told();
  await all.server.tell([CALL]);
  const link = await all.link();
  const [other] = await all.server.tell([{ ...CALL, session: "day" }]);
  await page.goto(link.replace(/approve\/\w+/, `approve/${String(other?.["approval"])}`));
  await expect(page.getByText("this link is not for this question")).toBeVisible();
  await expect(page.getByRole("button")).toHaveCount(0);
  await page.goto("about:blank");
  await page.goto(link.replace(/#.*/, ""));
  await expect(page.getByText("This link is not complete")).toBeVisible();
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("button", { name: "Decline" }).click();
  await expect(page.getByText("Declined: the agent was told.")).toBeVisible();
  const [after] = await all.server.tell([CALL]);
  expect(after?.verdict).toBe("deny");
  await end(all);
});

for (const [colorScheme, width] of [["light", 1200], ["dark", 390]] as const) {
  test(`the page of a link fits and meets WCAG AA in ${colorScheme} at ${width} px`, async ({ browser }, info) => {
    const all = await told();
    await all.server.tell([CALL]);
    const page = await (await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width, height: 780 } })).newPage();
    await page.goto(await all.link());
    await expect(page.getByRole("button", { name: "Approve once" })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: info.outputPath("approval-link.png") });
    if (process.env["SPRAG_SHOTS"]) await page.screenshot({ path: `${process.env["SPRAG_SHOTS"]}/approval-link-${colorScheme}-${width}.png` });
    await page.context().close();
    await end(all);
  });
}
