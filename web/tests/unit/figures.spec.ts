import { expect, test } from "@playwright/test";
import config from "../../playwright.config.ts";

test("a figure that waits for what never comes ends after a minute and names it", () => {
  const { actionTimeout = 0, navigationTimeout = 0 } = config.use ?? {};
  for (const wait of [actionTimeout, navigationTimeout, config.expect?.timeout ?? 0]) {
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThan(config.timeout ?? 0);
  }
});
