// What the server answers about many sessions at once. Times are milliseconds since the epoch.
import type * as api from "./generated.ts";

export type {
  AgentDetail,
  AgentPage,
  AgentTotals,
  CaseDetail,
  FlowPage,
  FlowRow,
  MarkedStop,
  Notifications,
  Spend,
  SpendPage,
  SpendRow,
  Stop,
  StopGroup,
  StopGroupDetail,
  StopPage,
} from "./generated.ts";
export type BulkAnswer = api.BulkOrderResponse;

/** How far back the numbers reach. */
export type Reach = Pick<api.StopPage, "complete_since" | "ready">;
