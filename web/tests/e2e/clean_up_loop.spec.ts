import { cleanUpLoop, worked } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

test("the clean-up loop appears, is replayed to the kill, is reset, and the agent goes on", async ({ page, server }) => {
  await server.open(page);
  await expect(page.getByText("Waiting for the first event…")).toBeVisible();

  const verdicts = await server.tell(cleanUpLoop("nightly-cleanup"));
  expect(verdicts.map((answer) => answer.verdict)).toContain("kill");

  const stopped = page.getByRole("region", { name: "Stopped now" });
  await expect(stopped.getByText(/Loop detected: 3 deletes on asset_id=fact_sales/)).toBeVisible();
  await stopped.getByRole("link", { name: "Replay" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "nightly-cleanup" })).toBeVisible();
  const inspector = page.getByRole("region", { name: "At the cursor" });
  await expect(inspector.getByText("destructive.volume").first()).toBeVisible();
  await expect(inspector.getByText(/session_killed: loop_detected, 3 deletes/)).toBeVisible();

  const slider = page.getByRole("slider", { name: "Place in the session" });
  await page.keyboard.press("Home");
  await expect(slider).toHaveAttribute("aria-valuetext", /^event 1 of \d+, a user writes to nightly-cleanup, allow/);
  await page.keyboard.press("n");
  await expect(slider).toHaveAttribute("aria-valuetext", /delete_asset asset_id=fact_sales, warn/);
  await page.keyboard.press("n");
  await expect(slider).toHaveAttribute("aria-valuetext", /delete_asset asset_id=fact_sales, kill/);
  await page.keyboard.press("[");
  await expect(slider).toHaveAttribute("aria-valuetext", /delete_asset asset_id=fact_sales, warn/);
  await expect(inspector.getByRole("meter", { name: "destructive.volume" })).toHaveAttribute("aria-valuenow", "2");
  const [, shown] = /#(\d+)/.exec(await inspector.getByRole("heading", { name: /^Event/ }).innerText()) ?? [];
  await expect(page).toHaveURL(new RegExp(`at=${shown}$`));

  const here = page.url();
  await page.reload();
  await expect(slider).toHaveAttribute("aria-valuetext", /delete_asset asset_id=fact_sales, warn/);
  expect(page.url()).toBe(here);

  await page.getByRole("button", { name: "Reset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Reset this session?" });
  await expect(dialog.getByText(/The session may act again at once; it is killed now/)).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Reset it" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("The catalog is repaired");
  await dialog.getByRole("button", { name: "Reset it" }).click();
  await expect(page.getByText("may go on, in generation 2")).toBeVisible();
  await expect(page.getByText("generation 2", { exact: true })).toBeVisible();

  const [again] = await server.tell(worked("nightly-cleanup", "cleaner", "catalog", "list_assets", { page: 9 }, "0 assets"));
  expect(again?.verdict).toBe("allow");
  await expect(page.getByRole("table", { name: "Events" }).getByText(/reset by .*The catalog is repaired/)).toBeVisible();
});

test("playing moves the cursor to the end, and pause stops it", async ({ page, server }) => {
  await server.tell(cleanUpLoop("s1"));
  await server.open(page, "/sessions/s1");
  const slider = page.getByRole("slider", { name: "Place in the session" });
  await expect(slider).toHaveAttribute("aria-valuetext", /kill$/);
  await page.keyboard.press("Home");
  await expect(slider).toHaveValue("0");
  await page.getByLabel("Speed").selectOption({ label: "50 / s" });
  await page.getByRole("button", { name: "Play" }).click();
  await expect(slider).toHaveValue((await slider.getAttribute("max")) ?? "");
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
});

test("a session is killed by hand, with a reason that the log keeps", async ({ page, server }) => {
  await server.tell(worked("worker-1", "coder", "files", "read_file", { path: "a" }, "text"));
  await server.open(page, "/sessions");
  await page.getByRole("button", { name: "Kill worker-1" }).click();
  const dialog = page.getByRole("dialog", { name: "Kill this session?" });
  await dialog.getByRole("textbox").fill("It reads what it should not");
  await dialog.getByRole("button", { name: "Kill it" }).click();
  await expect(page.getByRole("row", { name: /killed.*worker-1/ })).toBeVisible();
  const [next] = await server.tell([{ type: "call", session: "worker-1", tool: "read_file", args: {} }]);
  expect(next?.verdict).toBe("kill");
  await page.goto(`${server.url}/log?type=kill`);
  await expect(page.getByText(/It reads what it should not/)).toBeVisible();
});

test("other limits are tried on the same timeline and shared by the address", async ({ page, server }) => {
  await server.tell(cleanUpLoop("s1"));
  await server.open(page, "/sessions/s1");
  await page.getByRole("button", { name: "Move a limit" }).click();
  const limit = page.getByRole("slider", { name: /Destructive calls, killed on/ });
  await limit.fill("2");
  await expect(page.getByText(/Would have stopped at/)).toBeVisible();
  await expect(page).toHaveURL(/set=destructive\.max_calls/);
  await expect(page.getByText("With these limits", { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByText(/Would have stopped at/)).toBeVisible();
  await page.getByRole("button", { name: "Back to what is in force" }).click();
  await expect(page).not.toHaveURL(/set=/);
});
