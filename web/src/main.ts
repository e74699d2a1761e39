import { mount } from "svelte";
import "./style/tokens.css";
import "./style/base.css";
import App from "./App.svelte";
import "./shell/theme.svelte.ts";
import { who } from "./shell/who.svelte.ts";

const target = document.getElementById("app");
if (target) mount(App, { target });
void who.begin();
