// Light, dark, or as the system says. Kept in this browser only.

export type Theme = "system" | "light" | "dark";
const KEY = "sprag.theme";

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

class ThemeSwitch {
  chosen = $state<Theme>(stored());
  /** Grows with each change, also of the system: canvases read their colours anew. */
  changes = $state(0);

  constructor() {
    this.#show();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.changes += 1));
  }

  choose(theme: Theme): void {
    this.chosen = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    this.#show();
    this.changes += 1;
  }

  #show(): void {
    if (this.chosen === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = this.chosen;
  }
}

export const theme = new ThemeSwitch();
