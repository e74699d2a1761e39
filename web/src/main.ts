import { mount } from "svelte";
import "./style/tokens.css";
import "./style/base.css";
import App from "./App.svelte";
import "./shell/theme.svelte.ts";
import { who } from "./shell/who.svelte.ts";

// What stands in the page itself is seen until it is known who looks.
const target = document.getElementById("app");
void who.begin().finally(() => {
  target?.replaceChildren();
  if (target) mount(App, { target });
});
