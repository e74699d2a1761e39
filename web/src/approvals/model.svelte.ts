// The calls that wait for a person. Asked once, and again when the stream says that one came or went.
import { Problem, get, path, post, put, words } from "../api/client.ts";
import type { Approval, Approvals, LogRecord, Page, PolicyInForce } from "../api/shapes.ts";
import { allowFor } from "./allow.ts";

const SOON_MS = 200;
const BEFORE = 5;

export class ApprovalsModel {
  open = $state.raw<Approval[]>([]);
  trouble = $state<string | null>(null);
  /** What the session did before, by the code of the question; the newest first. */
  before = $state.raw<Record<string, LogRecord[]>>({});
  #timer: ReturnType<typeof setTimeout> | undefined;

  async load(): Promise<void> {
    try {
      this.open = (await get<Approvals>("/v1/approvals")).approvals;
      this.trouble = null;
      await Promise.all(this.open.map((one) => this.#past(one)));
    } catch (error) {
      // A server that knows no approvals has none.
      if (error instanceof Problem && error.status === 404) this.open = [];
      else this.trouble = words(error);
    }
  }

  async #past(one: Approval): Promise<void> {
    if (this.before[one.approval] || one.seq === null) return;
    const query = { order: "desc", after: one.seq, limit: BEFORE };
    const page = await get<Page<LogRecord, number>>(path`/v1/sessions/${one.session}/events`, query).catch(() => null);
    this.before = { ...this.before, [one.approval]: page?.items ?? [] };
  }

  async answer(one: Approval, answer: "approve" | "decline", why: string): Promise<void> {
    await post(path`/v1/approvals/${one.approval}`, { answer, ...(why === "" ? {} : { why }) });
    await this.load();
  }

  /** Writes the command into the policy, so that this agent is not asked for it again, and approves this call. */
  async allowFromNowOn(one: Approval): Promise<void> {
    const policy = await get<PolicyInForce>("/v1/policy");
    const text = allowFor(policy.file_text ?? "", one.agent ?? "", one.call ?? "");
    await put("/v1/policy", { text, why: `approved from now on: ${one.call ?? ""}`.slice(0, 500), base: policy.digest });
    await this.answer(one, "approve", "allowed from now on");
  }

  /** Whether the policy knows commands that never ask. */
  async canAllow(): Promise<boolean> {
    const policy = await get<PolicyInForce>("/v1/policy").catch(() => null);
    return /^\s*allow\s*=/m.test(policy?.text.split("[destructive]")[1]?.split("\n[")[0] ?? "") && policy?.file !== null;
  }

  saw(records: LogRecord[]): void {
    const concerns = (record: LogRecord) => record.verdict?.verdict === "ask" || ["approve", "decline", "kill", "reset"].includes(record.event?.type ?? "");
    if (!records.some(concerns) || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, SOON_MS);
  }
}
