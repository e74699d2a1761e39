// The calls that wait for a person. Asked once, and again when the stream says that one came or went.
import { Problem, get, path, post, words } from "../api/client.ts";
import type { Approval, Approvals, LogRecord, Page, PolicyInForce } from "../api/shapes.ts";

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

  /** Approves the call, and writes its command into the policy: for the project or for the agent. */
  async allowFromNowOn(one: Approval, scope: "project" | "agent"): Promise<void> {
    await post(path`/v1/approvals/${one.approval}`, { answer: "approve", scope, why: "allowed from now on" });
    await this.load();
  }

  /** Whether the policy can be changed here. */
  async canAllow(): Promise<boolean> {
    const policy = await get<PolicyInForce>("/v1/policy").catch(() => null);
    return policy !== null && policy.file !== null;
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
