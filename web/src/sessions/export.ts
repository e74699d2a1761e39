// The records of some sessions as one file.
import { address, request, words } from "../api/client.ts";
import { toasts } from "../parts/toasts.svelte.ts";

/** Hands the records of `sessions` to the browser to save, as CloudEvents, one line each. */
export async function exportSessions(sessions: string[]): Promise<void> {
  try {
    const parts: Blob[] = [];
    for (const session of sessions) parts.push(await (await request("GET", address("/v1/log/export", { session }))).blob());
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts));
    link.download = "sprag-sessions.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  } catch (error) {
    toasts.tell(words(error) ?? "It could not be exported.", true);
  }
}
