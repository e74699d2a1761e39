// Answers one question. The secret is in the fragment, which a browser sends to nobody; it is posted when the page
// looks the question up and when a button is pressed. Opening the page answers nothing.
"use strict";

const code = location.pathname.split("/").at(-1);
const secret = location.hash.slice(1);
const part = (id) => document.getElementById(id);

// The secret need not stay in the history of the browser.
history.replaceState(null, "", location.pathname);

async function post(body) {
  const response = await fetch(`/v1/links/${encodeURIComponent(code)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    credentials: "omit",
    body: JSON.stringify({ secret, ...body }),
  });
  const read = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(read.detail ?? `the server answered ${response.status}`);
  return read;
}

function tell(text, isTrouble = false) {
  part("status").textContent = text;
  part("status").classList.toggle("trouble", isTrouble);
}

function show(question) {
  if (question.state !== "open") {
    const by = question.by ? ` by ${question.by}` : "";
    return tell(question.state === "over" ? "This question is over." : `This call was ${question.state}${by} already.`);
  }
  part("call").textContent = question.call ?? "a call";
  part("why").textContent = question.why ?? "";
  part("session").textContent = question.agent ? `${question.session} (agent ${question.agent})` : question.session;
  part("expires").textContent = new Date(question.expires_at).toLocaleTimeString();
  part("question").hidden = false;
  part("answers").hidden = false;
  tell("An agent waits for your answer.");
}

async function answer(word) {
  part("answers").hidden = true;
  tell("Sending…");
  try {
    await post({ answer: word });
    tell(word === "approve" ? "Approved once: the agent may make this call now." : "Declined: the agent was told.");
  } catch (error) {
    tell(error.message, true);
  }
}

part("approve").addEventListener("click", () => void answer("approve"));
part("decline").addEventListener("click", () => void answer("decline"));

if (secret === "") tell("This link is not complete: open it as it was sent.", true);
else post({}).then(show, (error) => tell(error.message, true));
